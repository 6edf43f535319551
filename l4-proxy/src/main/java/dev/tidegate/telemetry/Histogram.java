package dev.tidegate.telemetry;

/**
 * Counts of durations in fixed buckets. One writer, any readers: the writer adds plainly, a reader may see a sum a moment
 * old, never a torn one on a 64-bit machine.
 *
 * <p>Hot: no allocation, no lock.
 */
public final class Histogram {
    private final long[] upperBoundsNanos;
    private final long[] counts;
    private long seconds; // of the sum, whole
    private long nanos; // of the sum, beyond whole seconds
    private double sumSeconds; // of both; what readers see

    private Histogram(long[] upperBoundsNanos) {
        this.upperBoundsNanos = upperBoundsNanos;
        this.counts = new long[upperBoundsNanos.length + 1];
    }

    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000_000_000;

    private static final long[] CONNECTION = {
        MILLI,
        10 * MILLI,
        100 * MILLI,
        SECOND,
        5 * SECOND,
        15 * SECOND,
        60 * SECOND,
        300 * SECOND,
        900 * SECOND,
        1_800 * SECOND,
        3_600 * SECOND,
        14_400 * SECOND,
        43_200 * SECOND,
        86_400 * SECOND
    };
    private static final long[] CONNECT = {
        100 * MICRO,
        250 * MICRO,
        500 * MICRO,
        MILLI,
        2_500 * MICRO,
        5 * MILLI,
        10 * MILLI,
        25 * MILLI,
        50 * MILLI,
        100 * MILLI,
        250 * MILLI,
        500 * MILLI,
        SECOND,
        2_500 * MILLI,
        5 * SECOND
    };
    private static final long[] TURN = {
        10 * MICRO,
        50 * MICRO,
        100 * MICRO,
        500 * MICRO,
        MILLI,
        5 * MILLI,
        10 * MILLI,
        50 * MILLI,
        100 * MILLI,
        500 * MILLI,
        SECOND
    };

    /** For the life of connections: a millisecond to a day. */
    public static Histogram ofConnections() {
        return new Histogram(CONNECTION);
    }

    /** For connects to endpoints: 100 microseconds to 5 seconds. */
    public static Histogram ofConnects() {
        return new Histogram(CONNECT);
    }

    /** For turns of an event loop: 10 microseconds to a second. */
    public static Histogram ofTurns() {
        return new Histogram(TURN);
    }

    /** Counts one duration, not negative. Called by the owner only. */
    public void add(long nanos) {
        int bucket = 0;
        while (bucket < upperBoundsNanos.length && nanos > upperBoundsNanos[bucket]) {
            bucket++;
        }
        counts[bucket]++;
        // One long of nanoseconds would wrap: 10,000 connections together live 292 years in eleven days.
        this.seconds += nanos / SECOND;
        this.nanos += nanos % SECOND;
        if (this.nanos >= SECOND) {
            this.nanos -= SECOND;
            this.seconds++;
        }
        sumSeconds = this.seconds + this.nanos / (double) SECOND;
    }

    /** How many buckets there are, the last one without an upper bound included. */
    public int buckets() {
        return counts.length;
    }

    /** The upper bound of a bucket in nanoseconds, inclusive; {@link Long#MAX_VALUE} for the last. */
    public long upperBoundNanos(int bucket) {
        return bucket < upperBoundsNanos.length ? upperBoundsNanos[bucket] : Long.MAX_VALUE;
    }

    /** How many durations fell into a bucket (not cumulative). */
    public long count(int bucket) {
        return counts[bucket];
    }

    /** The sum of all durations, in seconds: as exact as a double is, and never less than before. */
    public double sumSeconds() {
        return sumSeconds;
    }
}
