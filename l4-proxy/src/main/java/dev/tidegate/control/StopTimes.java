package dev.tidegate.control;

/**
 * When the steps of a stop are due, by the process's monotonic time. Immutable.
 *
 * @param listensUntilNanos connections are accepted until then
 * @param deadlineNanos what is left of connections then is cut
 * @param overNanos by then the last of them is gone
 */
public record StopTimes(long listensUntilNanos, long deadlineNanos, long overNanos) {}
