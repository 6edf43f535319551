package dev.tidegate.cli;

import dev.tidegate.config.AdminConfig;
import dev.tidegate.config.ListenAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Where a process can be asked for its sockets: one place for each that may run beside another. */
final class HandOverPath {
    private static final String FILE = "handover.sock";

    private HandOverPath() {}

    /**
     * The socket file: in the service's directory; else beside the admin API's first UNIX socket; else in the user's
     * directory.
     *
     * @param environment the process's
     * @return empty when there is no such directory
     */
    static Optional<Path> of(AdminConfig admin, Map<String, String> environment) {
        String service = environment.get("RUNTIME_DIRECTORY");
        Optional<Path> byDefault = AdminListens.defaultSocket(environment).map(socket -> socket.resolveSibling(FILE));
        if (service != null && !service.isBlank()) {
            return byDefault;
        }
        return admin.listen().stream()
                .filter(ListenAddress.Unix.class::isInstance)
                .findFirst()
                .map(socket -> Path.of(((ListenAddress.Unix) socket).path() + ".handover"))
                .or(() -> byDefault);
    }
}
