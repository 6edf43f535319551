package dev.tidegate.config;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * What clients connect to. Immutable.
 *
 * @param name unique among frontends
 * @param listen TCP addresses and sockets from systemd, at least one
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
     * @throws IllegalArgumentException if a name is malformed, there is no address or one is a UNIX socket, or the limit is
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
            if (address instanceof ListenAddress.Unix) {
                throw new IllegalArgumentException("frontend " + Text.quote(name) + ": " + address
                        + " is no TCP address; this version's frontends listen on TCP only");
            }
        }
        Objects.requireNonNull(protocol, "protocol");
        IntRange.MAX_CONNECTIONS.require("max-connections", maxConnections);
        Objects.requireNonNull(timeouts, "timeouts");
        Objects.requireNonNull(lifetime, "lifetime");
    }

    /** Whether it has sockets from systemd, which only a process that uses epoll can take. */
    public boolean listensByDescriptor() {
        return listen.stream().anyMatch(ListenAddress.Systemd.class::isInstance);
    }

    /** The same frontend on other addresses. */
    public FrontendConfig listeningOn(List<ListenAddress> addresses) {
        return new FrontendConfig(name, addresses, backend, protocol, maxConnections, timeouts, lifetime);
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
