package dev.tidegate.config;

import java.util.List;

/**
 * Where the operator's window listens. Immutable.
 *
 * @param listen UNIX sockets and loopback TCP addresses; empty is the default UNIX socket
 */
public record AdminConfig(List<ListenAddress> listen) {
    /**
     * Copies the list and checks it.
     *
     * @throws IllegalArgumentException if a TCP address is reachable from beyond this machine
     */
    public AdminConfig {
        listen = List.copyOf(listen);
        for (ListenAddress address : listen) {
            if (address instanceof ListenAddress.Tcp tcp && !tcp.loopback()) {
                throw new IllegalArgumentException("admin address " + tcp
                        + " is beyond loopback, which needs TLS and tokens; this version has neither");
            }
        }
    }
}
