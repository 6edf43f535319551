package dev.tidegate.cli;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * When the demo's one event happens: after a third of the time an endpoint closes its port, for a fifth of the time, at
 * most five seconds. A demo without an end tells the story again every half minute. Pure; any thread.
 */
final class DemoStory {
    private static final Duration LAP = Duration.ofSeconds(30);
    private static final Duration LONGEST_CLOSED = Duration.ofSeconds(5);

    private final long lapNanos;
    private final long closesNanos;
    private final long reopensNanos;

    /**
     * @param length how long the demo runs; null without an end
     */
    DemoStory(Duration length) {
        lapNanos = (length == null ? LAP : length).toNanos();
        closesNanos = lapNanos / 3;
        reopensNanos = closesNanos + Math.min(lapNanos / 5, LONGEST_CLOSED.toNanos());
    }

    /** Whether the endpoint's port is open at that time. */
    boolean isOpen(long elapsedNanos) {
        long at = elapsedNanos % lapNanos;
        return at < closesNanos || at >= reopensNanos;
    }

    /** What happens at that time, in words. */
    String news(long elapsedNanos, String endpoint) {
        long at = elapsedNanos % lapNanos;
        if (at < closesNanos) {
            return elapsedNanos < lapNanos
                    ? "half of the clients stay, the others leave and come back: power-of-two evens out"
                    : "all endpoints take connections";
        }
        if (at < reopensNanos) {
            long left = TimeUnit.NANOSECONDS.toSeconds(reopensNanos - at) + 1;
            return endpoint + " has closed its port for " + left
                    + " s: what is open goes on, new connects move to others";
        }
        return endpoint + " is back and takes new connections again: power-of-two fills it up";
    }
}
