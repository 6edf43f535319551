package dev.tidegate.admin.view;

/**
 * How the last upgrade of this process stands.
 *
 * @param pid of the process that answers: after an upgrade another one than before
 * @param state {@code none}, {@code running}, {@code done} or {@code failed}
 * @param next the process that takes over, or tried to; null when there was none
 * @param detail why it failed; empty otherwise
 */
public record UpgradeView(long pid, String state, @MayBeNull Long next, String detail) {}
