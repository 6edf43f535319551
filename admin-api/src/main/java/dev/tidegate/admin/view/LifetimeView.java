package dev.tidegate.admin.view;

/**
 * How long connections may live, as configured.
 *
 * @param maxAgeMs the age at which one is retired, before jitter; null for no limit
 * @param jitter by what share of its age that may be earlier or later, 0 to 1
 * @param maxRequests after how many requests it is retired; null for no limit
 * @param maxBytes after how many bytes, both directions together; null for no limit
 * @param graceMs how long a retired one has until it is cut
 * @param quietMs the least silence in which one is ended whose protocol is not recognised
 * @param lingerMs how long a client that was sent FIN is still read from
 */
public record LifetimeView(
        @MayBeNull Long maxAgeMs,
        double jitter,
        @MayBeNull Long maxRequests,
        @MayBeNull Long maxBytes,
        long graceMs,
        long quietMs,
        long lingerMs) {}
