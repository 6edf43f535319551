package dev.tidegate.config;

import java.time.Duration;
import java.util.Optional;

/**
 * When a silent connection ends. Immutable; an empty value is {@code off}.
 *
 * @param idle no progress in either direction for this long; 10 ms to 365 days
 * @param halfClosed silence for this long after one side has sent FIN; 10 ms to 365 days
 * @param unacked sent bytes that the peer does not acknowledge for this long; 10 ms to 24 days
 */
public record TimeoutsConfig(Optional<Duration> idle, Optional<Duration> halfClosed, Optional<Duration> unacked) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a duration is out of range
     */
    public TimeoutsConfig {
        DurationRange.IDLE.require("idle timeout", idle);
        DurationRange.HALF_CLOSED.require("half-closed timeout", halfClosed);
        DurationRange.UNACKED.require("unacked timeout", unacked);
    }
}
