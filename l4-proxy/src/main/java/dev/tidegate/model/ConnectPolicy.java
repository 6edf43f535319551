package dev.tidegate.model;

/**
 * How endpoints of a backend are reached. Immutable.
 *
 * @param timeoutNanos for one attempt
 * @param attempts the most attempts for one connection, 1 or more
 * @param deadlineNanos for all attempts of one connection together
 * @param proxyProtocol what the endpoint is sent first
 */
public record ConnectPolicy(long timeoutNanos, int attempts, long deadlineNanos, ProxyProtocol proxyProtocol) {}
