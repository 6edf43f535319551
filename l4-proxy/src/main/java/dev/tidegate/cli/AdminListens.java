package dev.tidegate.cli;

import dev.tidegate.admin.AdminAddress;
import dev.tidegate.config.AdminConfig;
import dev.tidegate.config.ListenAddress;
import dev.tidegate.listener.InheritedSocket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Where the admin API listens: what is configured, else a socket in the directory that the system gives. */
final class AdminListens {
    private AdminListens() {}

    /**
     * The addresses.
     *
     * @param environment the process's
     * @param inheritance sockets that are open already
     * @return empty when nothing is configured and there is no directory for a default
     * @throws IOException when a socket from systemd was not passed; its message is for the operator
     */
    static List<AdminAddress> of(AdminConfig config, Map<String, String> environment, Inheritance inheritance)
            throws IOException {
        if (!config.listen().isEmpty()) {
            List<AdminAddress> addresses = new ArrayList<>();
            for (ListenAddress listen : config.listen()) {
                addresses.addAll(addresses(listen, inheritance));
            }
            return addresses;
        }
        return defaultSocket(environment).map(AdminAddress::unix).stream()
                .map(address -> handedOver(address, inheritance))
                .toList();
    }

    /** The socket that the process before had there, so that nobody who comes meanwhile finds none. */
    private static AdminAddress handedOver(AdminAddress address, Inheritance inheritance) {
        return inheritance
                .forAdminAt(address.toString())
                .map(socket -> passed("", socket, address.toString()))
                .orElse(address);
    }

    /** The socket in the directory that the system gives; empty when it gives none. */
    static Optional<Path> defaultSocket(Map<String, String> environment) {
        String runtime = environment.get("RUNTIME_DIRECTORY");
        if (runtime != null && !runtime.isBlank()) {
            int colon = runtime.indexOf(':'); // systemd gives as many directories as a unit asks for
            String first = colon < 0 ? runtime : runtime.substring(0, colon);
            return Optional.of(Path.of(first, "admin.sock"));
        }
        String user = environment.get("XDG_RUNTIME_DIR");
        return user == null || !user.startsWith("/") // its specification has a relative one ignored
                ? Optional.empty()
                : Optional.of(Path.of(user, "tidegate", "admin.sock"));
    }

    private static List<AdminAddress> addresses(ListenAddress listen, Inheritance inheritance) throws IOException {
        if (listen instanceof ListenAddress.Unix unix) {
            return List.of(handedOver(AdminAddress.unix(Path.of(unix.path())), inheritance));
        }
        if (listen instanceof ListenAddress.Systemd systemd) {
            return inheritance.forAdmin(systemd.name()).stream()
                    .map(socket -> passed(systemd.name(), socket, systemd.toString()))
                    .toList();
        }
        ListenAddress.Tcp tcp = (ListenAddress.Tcp) listen;
        return List.of(handedOver(AdminAddress.tcp(new InetSocketAddress(tcp.host(), tcp.port())), inheritance));
    }

    /** Who may do what on it is decided by where it really listens. */
    private static AdminAddress passed(String name, InheritedSocket socket, String asked) {
        AdminAddress real = socket.tcp()
                .map(AdminAddress::tcp)
                .orElseGet(() ->
                        AdminAddress.unix(Path.of(socket.address().orElseThrow().toString())));
        return new AdminAddress.Passed(name, socket.fd(), real, asked);
    }
}
