package dev.tidegate.config;

import java.util.Objects;
import java.util.OptionalInt;

/**
 * One address in a backend. Immutable.
 *
 * @param name unique in its backend; by default the address in canonical form
 * @param address where it is reached
 * @param weight its share, 0..1000; 0 takes no new connections
 * @param maxConnections connections at once, those under way counted, 1..10,000,000; empty is unlimited
 */
public record EndpointConfig(String name, EndpointAddress address, int weight, OptionalInt maxConnections) {
    /**
     * Checks name and ranges.
     *
     * @throws IllegalArgumentException if the name is malformed or a number out of range
     */
    public EndpointConfig {
        Names.requireEndpointName(name);
        Objects.requireNonNull(address, "address");
        IntRange.WEIGHT.require("weight", weight);
        IntRange.MAX_CONNECTIONS.require("max-connections", maxConnections);
    }
}
