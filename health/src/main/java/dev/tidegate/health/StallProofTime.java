package dev.tidegate.health;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Time that stands still while this process does. Starts at 0 and never goes back. Confined to the checks' loop.
 *
 * <p>It follows a monotonic clock, but gets at most 100 ms past the moment for which the loop had planned to wake: whatever
 * is beyond that is a stall (a stopped process, a suspended machine, a long collection), in which nobody could answer us and
 * we could not have listened. No deadline passes in it and no backlog of checks comes of it.
 */
final class StallProofTime {
    private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Some 146 years: no sum of it and a time of this clock overflows. */
    static final long FOREVER = Long.MAX_VALUE / 2;

    private final LongSupplier nanoTime;
    private long lastNanos;
    private long nowNanos;
    private long wakeNanos;
    private boolean stalled;

    StallProofTime(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        lastNanos = nanoTime.getAsLong();
    }

    /** The time now. */
    long nowNanos() {
        long readNanos = nanoTime.getAsLong();
        long passedNanos = Math.max(0, readNanos - lastNanos);
        lastNanos = readNanos;
        long mostNanos = Math.max(0, wakeNanos - nowNanos) + SLACK_NANOS;
        stalled |= passedNanos > mostNanos;
        nowNanos += Math.min(passedNanos, mostNanos);
        return nowNanos;
    }

    /** The loop means to wake in that time, and not before; {@link #FOREVER} for want of anything to do. */
    void planWakeIn(long nanos) {
        wakeNanos = nowNanos + nanos;
    }

    /** Whether there was a stall since this was asked last. */
    boolean takeStall() {
        boolean was = stalled;
        stalled = false;
        return was;
    }
}
