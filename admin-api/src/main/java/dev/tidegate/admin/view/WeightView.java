package dev.tidegate.admin.view;

/**
 * A weight, by where it comes from.
 *
 * @param configured what the configuration says
 * @param runtime what the operator said since; null for nothing
 * @param effective what picks use
 */
public record WeightView(int configured, @MayBeNull Integer runtime, int effective) {}
