package dev.tidegate.config;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Where the operator's window listens, and who may come in. Immutable.
 *
 * @param listen UNIX sockets, TCP addresses and sockets from systemd; empty is the default UNIX socket
 * @param tokenFile the file of tokens for TCP, absolute or relative to the working directory; empty is no tokens
 * @param tls how TCP is encrypted; empty is not at all
 */
public record AdminConfig(List<ListenAddress> listen, Optional<String> tokenFile, Optional<AdminTlsConfig> tls) {
    /** Nothing configured: the default UNIX socket. */
    public static final AdminConfig NONE = new AdminConfig(List.of(), Optional.empty(), Optional.empty());

    /**
     * Copies the list and checks it.
     *
     * @throws IllegalArgumentException if the path is none of a file, or a TCP address is reachable from beyond this
     *     machine without both tokens and TLS
     */
    public AdminConfig {
        listen = List.copyOf(listen);
        Objects.requireNonNull(tls, "tls");
        tokenFile.ifPresent(Paths::requireFile);
        for (ListenAddress address : listen) {
            if (isBeyondLoopback(address) && (tokenFile.isEmpty() || tls.isEmpty())) {
                throw new IllegalArgumentException(
                        "admin address " + address + " is beyond loopback, which needs a token file and TLS");
            }
        }
    }

    static boolean isBeyondLoopback(ListenAddress address) {
        return address instanceof ListenAddress.Tcp tcp && !tcp.loopback();
    }
}
