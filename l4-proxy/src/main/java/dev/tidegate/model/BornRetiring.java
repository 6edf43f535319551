package dev.tidegate.model;

/**
 * What connections are given that come to a frontend while it, or the whole process, is drained: they are served, and
 * retiring from their first moment. Immutable, save for its order.
 *
 * @param order what they are retired by
 * @param deadlineNanos when those open at the drain's begin are cut
 * @param graceNanos what each has at least, from its own start
 */
public record BornRetiring(RetireOrder order, long deadlineNanos, long graceNanos) {
    /** When one that starts now ends, whatever it does then: the later of the deadline and its own grace. */
    public long hardNanos(long nowNanos) {
        long own = nowNanos + graceNanos;
        return own - deadlineNanos > 0 ? own : deadlineNanos;
    }
}
