package dev.tidegate.telemetry;

import dev.tidegate.model.EndpointCell;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * How many requests endpoints have had of late: in about the last minute, or since the scrape before if that is longer ago.
 * Who scrapes beside others, or more often, changes nothing about it. Used by one thread at a time.
 */
final class RecentRequests {
    private static final long SECOND = 1_000_000_000L;
    private static final long WINDOW_NANOS = 60 * SECOND;
    /** Looks closer to each other than this are not all remembered. */
    private static final long STEP_NANOS = 10 * SECOND;

    private record Look(long nanos, Map<EndpointCell, Long> requests) {}

    private final ArrayDeque<Look> looks = new ArrayDeque<>(); // the oldest first; never empty

    /** Counts from here. */
    RecentRequests(long nowNanos) {
        looks.add(new Look(nowNanos, Map.of()));
    }

    /**
     * What came of late.
     *
     * @param totals all that each has had
     */
    Map<EndpointCell, Long> since(Map<EndpointCell, Long> totals, long nowNanos) {
        // The one that is as old as the window, or older, stays: it is where the window begins.
        while (looks.size() > 1 && nowNanos - second().nanos() >= WINDOW_NANOS) {
            looks.removeFirst();
        }
        Map<EndpointCell, Long> before = looks.getFirst().requests();
        Map<EndpointCell, Long> recent = new HashMap<>();
        totals.forEach((cell, total) -> recent.put(cell, Math.max(0, total - before.getOrDefault(cell, 0L))));
        if (nowNanos - looks.getLast().nanos() >= STEP_NANOS) {
            looks.addLast(new Look(nowNanos, Map.copyOf(totals)));
        }
        return recent;
    }

    private Look second() {
        var all = looks.iterator();
        all.next();
        return all.next();
    }
}
