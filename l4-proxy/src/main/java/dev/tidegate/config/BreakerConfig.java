package dev.tidegate.config;

import java.time.Duration;

/**
 * When an endpoint is no longer dialed, since it cannot be reached. Immutable.
 *
 * @param consecutiveFailures connects in a row that failed and open it; 1..1000
 * @param open how long it stays open before it is tried again; 100 ms to 1 hour
 * @param trials connects under way at a time while it is tried; 1..1000
 */
public record BreakerConfig(int consecutiveFailures, Duration open, int trials) {
    /** What holds of what is not configured, where a breaker is. */
    public static final BreakerConfig DEFAULT = new BreakerConfig(5, Duration.ofSeconds(10), 1);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public BreakerConfig {
        IntRange.CONSECUTIVE_FAILURES.require("breaker consecutive-failures", consecutiveFailures);
        DurationRange.BREAKER_OPEN.require("breaker open", open);
        IntRange.TRIALS.require("breaker trials", trials);
    }
}
