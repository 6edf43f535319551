package dev.tidegate.config;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * What clients connect to. Immutable.
 *
 * @param name unique among frontends
 * @param listen TCP addresses, at least one
 * @param backend the name of the backend that connections go to
 * @param maxConnections connections at once, 1..10,000,000; empty is no limit of its own
 * @param timeouts when a silent connection ends
 */
public record FrontendConfig(
        String name, List<ListenAddress> listen, String backend, OptionalInt maxConnections, TimeoutsConfig timeouts) {
    /**
     * Copies the list and checks names, addresses and range.
     *
     * @throws IllegalArgumentException if a name is malformed, there is no address or one is not TCP, or the limit is
     *     out of range
     */
    public FrontendConfig {
        Names.requireName(name);
        Names.requireName(backend);
        listen = List.copyOf(listen);
        if (listen.isEmpty()) {
            throw new IllegalArgumentException(
                    "frontend " + Text.quote(name) + " listens nowhere; at least one address is needed");
        }
        for (ListenAddress address : listen) {
            if (!(address instanceof ListenAddress.Tcp)) {
                throw new IllegalArgumentException("frontend " + Text.quote(name) + ": " + address
                        + " is no TCP address; this version's frontends listen on TCP only");
            }
        }
        IntRange.MAX_CONNECTIONS.require("max-connections", maxConnections);
        Objects.requireNonNull(timeouts, "timeouts");
    }
}
