package dev.tidegate.config;

import java.time.Duration;

/**
 * How the share of a new or recovered endpoint grows. Immutable.
 *
 * @param window until it has its full share; 1 second to 1 hour
 * @param aggression 1 grows evenly, more than 1 faster at first; 0.1..10
 * @param minWeightPercent the least share; 1..100
 */
public record SlowStartConfig(Duration window, double aggression, int minWeightPercent) {
    /** What holds of what is not configured, where a slow start is. */
    public static final SlowStartConfig DEFAULT = new SlowStartConfig(Duration.ofSeconds(30), 1, 10);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public SlowStartConfig {
        DurationRange.SLOW_START_WINDOW.require("slow-start window", window);
        DecimalRange.AGGRESSION.require("slow-start aggression", aggression);
        IntRange.MIN_WEIGHT.require("slow-start min-weight", minWeightPercent);
    }
}
