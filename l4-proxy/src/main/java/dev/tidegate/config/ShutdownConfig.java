package dev.tidegate.config;

import java.time.Duration;

/**
 * How a graceful stop goes. Immutable.
 *
 * @param deadline after this time what is left is cut; 10 ms to 7 days
 * @param spread each connection's start of retirement is drawn from this window; 0 to {@code deadline}
 * @param lameDuck for how long connections are still accepted after readiness has turned; 0 to 1 hour, and less
 *     than {@code deadline}
 */
public record ShutdownConfig(Duration deadline, Duration spread, Duration lameDuck) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a duration is out of range, the spread longer than the deadline, or the
     *     lame-duck time not shorter than it
     */
    public ShutdownConfig {
        DurationRange.SHUTDOWN_DEADLINE.require("shutdown deadline", deadline);
        DurationRange.SHUTDOWN_SPREAD.require("shutdown spread", spread);
        DurationRange.LAME_DUCK.require("shutdown lame-duck", lameDuck);
        if (spread.compareTo(deadline) > 0) {
            throw new IllegalArgumentException("shutdown spread " + Durations.format(spread)
                    + " is longer than its deadline " + Durations.format(deadline));
        }
        if (lameDuck.compareTo(deadline) >= 0) {
            throw new IllegalArgumentException("shutdown lame-duck " + Durations.format(lameDuck)
                    + " is not shorter than its deadline " + Durations.format(deadline));
        }
    }
}
