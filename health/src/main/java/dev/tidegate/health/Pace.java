package dev.tidegate.health;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * How many checks may start now: in any 100 ms at most twice what the set of targets needs on average, and 10 in any case.
 * Confined to the checks' loop; pure.
 */
final class Pace {
    static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    static final int LEAST = 10;

    private final ArrayDeque<Long> startsNanos = new ArrayDeque<>(); // of the last window, oldest first
    private int limit = LEAST;

    /** The set has changed: it needs that many starts in 100 ms, on average. */
    void need(double startsPerWindow) {
        limit = (int) Math.max(LEAST, Math.min(2 * startsPerWindow, 1e9));
    }

    /** In any 100 ms. */
    int limit() {
        return limit;
    }

    /**
     * How many may start in this tick: what the window leaves, and of that no more than a tenth of the whole at once. That is
     * so for a tick that comes late, too, though fewer start than are needed then: what keeps the loop busy may be checks, and
     * with more of them it would read answers so late that targets seem to be silent.
     */
    int free(long nowNanos) {
        while (!startsNanos.isEmpty() && nowNanos - startsNanos.peekFirst() >= WINDOW_NANOS) {
            startsNanos.removeFirst();
        }
        return Math.max(0, Math.min(limit - startsNanos.size(), Math.max(LEAST, limit / 10)));
    }

    void started(long nowNanos) {
        startsNanos.addLast(nowNanos);
    }
}
