package dev.tidegate.control;

import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Where runtime state is kept. Immutable.
 *
 * @param path the directory, which may not exist yet; empty when there is none
 * @param why who said so, or why there is none: for a log
 */
public record StateDirectory(Optional<Path> path, String why) {
    private static final String OWN = "tidegate";

    /**
     * The configured directory, else the first of {@code $STATE_DIRECTORY}, else {@code tidegate} in
     * {@code $XDG_STATE_HOME}, else {@code ~/.local/state/tidegate}. Looks at no disk.
     *
     * @param configured {@code process.state-dir}
     * @param environment looks up a variable; null for one that is not set
     */
    public static StateDirectory of(Optional<String> configured, UnaryOperator<String> environment) {
        if (configured.isPresent()) {
            return at(configured.get(), "", "process.state-dir");
        }
        String service = set(environment, "STATE_DIRECTORY");
        if (!service.isEmpty()) {
            int colon = service.indexOf(':'); // systemd gives as many as a unit asks for
            return at(colon < 0 ? service : service.substring(0, colon), "", "$STATE_DIRECTORY");
        }
        String user = set(environment, "XDG_STATE_HOME");
        if (user.startsWith("/")) { // its specification has a relative one ignored
            return at(user, OWN, "$XDG_STATE_HOME");
        }
        String home = set(environment, "HOME");
        if (home.startsWith("/")) {
            return at(home, ".local/state/" + OWN, "$HOME");
        }
        return new StateDirectory(
                Optional.empty(),
                "no process.state-dir, and none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set to a path");
    }

    private static String set(UnaryOperator<String> environment, String name) {
        String value = environment.apply(name);
        return value == null ? "" : value;
    }

    private static StateDirectory at(String directory, String below, String why) {
        try {
            return new StateDirectory(Optional.of(Path.of(directory, below)), why);
        } catch (InvalidPathException e) {
            // The locale's encoding lacks a character of it.
            return new StateDirectory(
                    Optional.empty(),
                    why + " is no path here: " + e.getReason() + " ("
                            + directory.getBytes(StandardCharsets.UTF_8).length + " bytes)");
        }
    }
}
