package dev.tidegate.config;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * How long connections may live, and how they are brought to their end. Immutable; an empty limit is {@code off}.
 *
 * @param maxAge the age at which a connection is retired; 10 ms to 365 days
 * @param jitterPercent by how much of its age a connection's limit may fall earlier or later, 0 to 100
 * @param maxRequests after how many requests it is retired; 1 to 100,000,000
 * @param maxBytes after how many bytes, both directions together, it is retired; 1 byte to 1,024 TiB
 * @param grace how long a retired connection has until it is cut; up to 365 days
 * @param quiet the least silence in which an opaque connection is ended; 10 ms to 1 hour
 * @param linger how long a client that was sent FIN is still read from; 10 ms to 5 minutes
 */
public record LifetimeConfig(
        Optional<Duration> maxAge,
        int jitterPercent,
        OptionalInt maxRequests,
        OptionalLong maxBytes,
        Duration grace,
        Duration quiet,
        Duration linger) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public LifetimeConfig {
        DurationRange.MAX_AGE.require("max-age", maxAge);
        IntRange.JITTER.require("jitter", jitterPercent);
        IntRange.MAX_REQUESTS.require("max-requests", maxRequests);
        SizeRange.MAX_BYTES.require("max-bytes", maxBytes);
        DurationRange.GRACE.require("grace", grace);
        DurationRange.QUIET.require("quiet", quiet);
        DurationRange.LINGER.require("linger", linger);
    }
}
