package dev.tidegate.admin.view;

/**
 * How much is logged.
 *
 * @param level {@code error}, {@code warn}, {@code info}, {@code debug} or {@code trace}
 */
public record LogLevelView(String level) {}
