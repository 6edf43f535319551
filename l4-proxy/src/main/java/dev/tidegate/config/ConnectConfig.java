package dev.tidegate.config;

import java.time.Duration;
import java.util.Objects;

/**
 * How an endpoint is dialed. Immutable.
 *
 * @param timeout what one attempt may take; 10 ms to 5 minutes
 * @param attempts connects tried for one client, the first included; 1..10
 * @param deadline what all attempts together may take; 10 ms to 1 hour
 * @param proxyProtocol the header sent before the first byte
 */
public record ConnectConfig(Duration timeout, int attempts, Duration deadline, ProxyProtocol proxyProtocol) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public ConnectConfig {
        DurationRange.CONNECT_TIMEOUT.require("connect timeout", timeout);
        IntRange.ATTEMPTS.require("connect attempts", attempts);
        DurationRange.CONNECT_DEADLINE.require("connect deadline", deadline);
        Objects.requireNonNull(proxyProtocol, "proxyProtocol");
    }

    /** The PROXY protocol header by which an endpoint learns the client's address. */
    public enum ProxyProtocol {
        /** No header. */
        OFF,
        /** The text form. */
        V1,
        /** The binary form. */
        V2
    }
}
