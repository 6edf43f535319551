package dev.tidegate.cli;

import dev.tidegate.config.AdminConfig;
import dev.tidegate.config.ListenAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Where a process can be asked for its sockets: one place for each that may run beside another. */
final class HandOverPath {
    /** In the environment of a process that another has started: where that one can be asked. */
    static final String RUNNING = "TIDEGATE_HANDOVER";

    private static final String FILE = "handover.sock";

    private HandOverPath() {}

    /**
     * Where the running process can be asked: where it says, if it has started this one, else where this one would be.
     *
     * @param environment the process's
     * @return empty when there is no such directory
     */
    static Optional<Path> ofRunning(AdminConfig admin, Map<String, String> environment) {
        return Optional.ofNullable(environment.get(RUNNING)).map(Path::of).or(() -> of(admin, environment));
    }

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
