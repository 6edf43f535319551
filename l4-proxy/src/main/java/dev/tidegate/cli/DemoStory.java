package dev.tidegate.cli;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * What happens in the demo, and when: an endpoint closes its port for a while, another one joins half-way, and a third one
 * is drained and taken back. A demo without an end tells the story again every half minute; who has joined stays. Pure; any
 * thread.
 */
final class DemoStory {
    /** The endpoint whose port closes. */
    static final String RESTARTED = "b";

    /** The endpoint that joins. */
    static final String JOINING = "d";

    /** The endpoint that is drained. */
    static final String DRAINED = "a";

    /** A drain's last cut: later than the longest visit of a client that comes and goes. */
    static final Duration DRAIN_DEADLINE = Duration.ofSeconds(7);

    /** Over this the starts of retirements are drawn. */
    static final Duration DRAIN_SPREAD = Duration.ofSeconds(1);

    private static final Duration LAP = Duration.ofSeconds(30);
    private static final Duration LONGEST_CLOSED = Duration.ofSeconds(5);

    private final long lapNanos;
    private final long closesNanos;
    private final long reopensNanos;
    private final long joinsNanos;
    private final long drainsNanos;
    private final long undrainsNanos;
    private final Duration maxAge;

    /**
     * @param length how long the demo runs; null without an end
     */
    DemoStory(Duration length) {
        lapNanos = (length == null ? LAP : length).toNanos();
        closesNanos = lapNanos / 6;
        reopensNanos = closesNanos + Math.min(lapNanos / 6, LONGEST_CLOSED.toNanos());
        joinsNanos = part(18);
        drainsNanos = part(23);
        undrainsNanos = part(37);
        maxAge = Duration.ofMillis(Math.max(100, lapNanos / 5 / 1_000_000));
    }

    /** Of forty. */
    private long part(int parts) {
        return lapNanos / 40 * parts;
    }

    /** How old a connection of those few may get that never leave by themselves: so that a lap shows a whole lifetime. */
    Duration maxAge() {
        return maxAge;
    }

    /** Whether the port of the restarted endpoint is open at that time. */
    boolean isOpen(long elapsedNanos) {
        long at = elapsedNanos % lapNanos;
        return at < closesNanos || at >= reopensNanos;
    }

    /** Whether the joining endpoint has joined by that time. */
    boolean hasJoined(long elapsedNanos) {
        return elapsedNanos >= joinsNanos;
    }

    /** Whether the drained endpoint is drained at that time. */
    boolean isDrained(long elapsedNanos) {
        long at = elapsedNanos % lapNanos;
        return at >= drainsNanos && at < undrainsNanos;
    }

    /** What happens at that time, in words. */
    String news(long elapsedNanos) {
        long at = elapsedNanos % lapNanos;
        if (at < closesNanos) {
            return elapsedNanos < lapNanos
                    ? "half of the clients stay, the others leave and come back: power-of-two evens out"
                    : "all endpoints take connections";
        }
        if (at < reopensNanos) {
            long left = TimeUnit.NANOSECONDS.toSeconds(reopensNanos - at) + 1;
            return RESTARTED + " has closed its port for " + left
                    + " s: what is open goes on, new connects move to others";
        }
        if (at < joinsNanos || (at < drainsNanos && elapsedNanos >= lapNanos)) {
            return RESTARTED + " is back and takes new connections again: power-of-two fills it up";
        }
        if (at < drainsNanos) {
            return JOINING + " has joined by the admin API: it takes most of the new connections now";
        }
        if (at < undrainsNanos) {
            return DRAINED + " is drained by the admin API: each connection leaves at a quiet moment";
        }
        return DRAINED + " is undrained by the admin API: it is picked again";
    }
}
