package dev.tidegate.health;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of checks that start late by more than their interval, so that one comes where two or more are configured: one line a
 * minute, with what has come since the last. Confined to the checks' loop.
 */
final class LateLog {
    private static final Logger LOG = LoggerFactory.getLogger(LateLog.class);
    private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private long toldNanos = -PERIOD_NANOS;
    private long count;
    private long worstNanos;
    private Target worst; // null: none since the last line

    /** A check of that target starts so late. */
    void on(Target target, long lateNanos, long nowNanos, int targets) {
        count++;
        if (worst == null || lateNanos > worstNanos) {
            worst = target;
            worstNanos = lateNanos;
        }
        if (nowNanos - toldNanos >= PERIOD_NANOS) {
            LOG.warn(
                    "checks start late by more than their interval, there are too many for the time: count={} worst_ms={}"
                            + " backend={} target={} interval_ms={} targets={}",
                    count,
                    TimeUnit.NANOSECONDS.toMillis(worstNanos),
                    worst.subject().backend(),
                    worst.id(),
                    TimeUnit.NANOSECONDS.toMillis(worst.plan().intervalNanos()),
                    targets);
            toldNanos = nowNanos;
            count = 0;
            worst = null;
        }
    }
}
