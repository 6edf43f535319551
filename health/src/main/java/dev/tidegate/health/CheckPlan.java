package dev.tidegate.health;

/**
 * How a target is checked. Immutable.
 *
 * @param probe what is asked
 * @param intervalNanos from one check's start to the next
 * @param fastIntervalNanos the same while results speak for a change; of the two intervals the shorter is taken then
 * @param timeoutNanos for one check, of one address, once its turn has come
 * @param jitterPercent each interval is drawn from interval × (1 ± jitter); 0..50
 * @param rise passes in a row that bring a target up, 1 or more
 * @param fall other results in a row that take it out, 1 or more
 * @param initial what holds until the first check
 * @param maxHoldDownNanos the longest that a flapping target is held down; 0: it is not. The first fall out of up costs
 *     nothing; the n-th in a row holds it down, whatever it answers, for {@code rise × interval × 2^(n−1)}, at most this. The
 *     count starts over once it has stayed up for 60 s, or as long as it was held last if that is longer
 */
public record CheckPlan(
        Probe probe,
        long intervalNanos,
        long fastIntervalNanos,
        long timeoutNanos,
        int jitterPercent,
        int rise,
        int fall,
        Condition initial,
        long maxHoldDownNanos) {
    private static final int JITTER_MAX = 50;

    /** Checks the ranges. */
    public CheckPlan {
        atLeast(1, intervalNanos, "intervalNanos");
        atLeast(1, fastIntervalNanos, "fastIntervalNanos");
        atLeast(1, timeoutNanos, "timeoutNanos");
        atLeast(0, jitterPercent, "jitterPercent");
        atLeast(1, rise, "rise");
        atLeast(1, fall, "fall");
        atLeast(0, maxHoldDownNanos, "maxHoldDownNanos");
        if (jitterPercent > JITTER_MAX) {
            throw new IllegalArgumentException("jitterPercent " + jitterPercent + " is above " + JITTER_MAX);
        }
    }

    private static void atLeast(long least, long value, String name) {
        if (value < least) {
            throw new IllegalArgumentException(name + " " + value + " is below " + least);
        }
    }
}
