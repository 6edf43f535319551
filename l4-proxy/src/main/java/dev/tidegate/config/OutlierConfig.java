package dev.tidegate.config;

import java.time.Duration;
import java.util.Optional;

/**
 * When an endpoint is ejected for how connections to it fare. Immutable.
 *
 * @param consecutiveFailures in a row that eject it; 1..1000
 * @param failureRatePercent of connections in one {@code interval} that ejects it; 1..100; empty: the rate does not matter
 * @param minConnections below so many in one {@code interval} the rate does not matter; 1..1,000,000
 * @param interval over which the rate is taken; 1 second to 1 hour
 * @param firstByte an answer that takes longer to begin is a failure; 10 ms to 1 hour; empty: it is not
 * @param ejection how long the first ejection lasts; each further one lasts that much longer; 100 ms to
 *     1 day
 * @param maxEjection the longest that one lasts; from {@code ejection} to 1 day
 * @param maxEjectedPercent of the backend's endpoints that are ejected, or have an open breaker, at a time; 0..100
 */
public record OutlierConfig(
        int consecutiveFailures,
        Optional<Integer> failureRatePercent,
        int minConnections,
        Duration interval,
        Optional<Duration> firstByte,
        Duration ejection,
        Duration maxEjection,
        int maxEjectedPercent) {
    /** What holds when nothing is configured. */
    public static final OutlierConfig DEFAULT = new OutlierConfig(
            5,
            Optional.empty(),
            20,
            Duration.ofSeconds(10),
            Optional.empty(),
            Duration.ofSeconds(30),
            Duration.ofSeconds(300),
            50);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of range, or the longest ejection is shorter than the first
     */
    public OutlierConfig {
        IntRange.CONSECUTIVE_FAILURES.require("outlier consecutive-failures", consecutiveFailures);
        if (failureRatePercent.isPresent()) {
            IntRange.FAILURE_RATE.require("outlier failure-rate", failureRatePercent.get());
        }
        IntRange.MIN_CONNECTIONS.require("outlier min-connections", minConnections);
        DurationRange.OUTLIER_INTERVAL.require("outlier interval", interval);
        DurationRange.FIRST_BYTE.require("outlier first-byte", firstByte);
        DurationRange.EJECTION.require("outlier ejection", ejection);
        DurationRange.MAX_EJECTION.require("outlier max-ejection", maxEjection);
        IntRange.MAX_EJECTED.require("outlier max-ejected", maxEjectedPercent);
        if (maxEjection.compareTo(ejection) < 0) {
            throw new IllegalArgumentException("outlier max-ejection " + Durations.format(maxEjection)
                    + " is shorter than its ejection " + Durations.format(ejection));
        }
    }
}
