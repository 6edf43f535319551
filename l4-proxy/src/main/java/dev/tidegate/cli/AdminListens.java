package dev.tidegate.cli;

import dev.tidegate.admin.AdminAddress;
import dev.tidegate.config.AdminConfig;
import dev.tidegate.config.ListenAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
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
     * @return empty when nothing is configured and there is no directory for a default
     */
    static List<AdminAddress> of(AdminConfig config, Map<String, String> environment) {
        if (!config.listen().isEmpty()) {
            return config.listen().stream().map(AdminListens::address).toList();
        }
        return defaultSocket(environment).map(AdminAddress::unix).stream().toList();
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

    private static AdminAddress address(ListenAddress listen) {
        if (listen instanceof ListenAddress.Unix unix) {
            return AdminAddress.unix(Path.of(unix.path()));
        }
        ListenAddress.Tcp tcp = (ListenAddress.Tcp) listen;
        return AdminAddress.tcp(new InetSocketAddress(tcp.host(), tcp.port()));
    }
}
