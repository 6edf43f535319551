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
 * @param protocol what is looked for in the bytes of its connections
 * @param maxConnections connections at once, 1..10,000,000; empty is no limit of its own
 * @param timeouts when a silent connection ends
 * @param lifetime how long connections may live, and how they end
 */
public record FrontendConfig(
        String name,
        List<ListenAddress> listen,
        String backend,
        Protocol protocol,
        OptionalInt maxConnections,
        TimeoutsConfig timeouts,
        LifetimeConfig lifetime) {
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
        Objects.requireNonNull(protocol, "protocol");
        IntRange.MAX_CONNECTIONS.require("max-connections", maxConnections);
        Objects.requireNonNull(timeouts, "timeouts");
        Objects.requireNonNull(lifetime, "lifetime");
    }

    /** What is looked for in the bytes of a connection, so that it can be ended between two requests. */
    public enum Protocol {
        /** HTTP/1 and HTTP/2, whichever both sides show. */
        AUTO,
        /** Nothing. */
        TCP,
        /** HTTP/1 only. */
        HTTP1,
        /** HTTP/2 only. */
        HTTP2
    }
}
