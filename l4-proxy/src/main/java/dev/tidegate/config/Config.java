package dev.tidegate.config;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A whole configuration, checked, with every default filled in. Immutable.
 *
 * @param process what holds for the process
 * @param admin where the operator's window listens
 * @param log what is logged, and where
 * @param frontends at least one, names distinct
 * @param backends at least one, names distinct; every frontend's backend is among them
 */
public record Config(
        ProcessConfig process,
        AdminConfig admin,
        LogConfig log,
        List<FrontendConfig> frontends,
        List<BackendConfig> backends) {
    /**
     * Copies the lists and checks the references.
     *
     * @throws IllegalArgumentException if a list is empty, a name comes twice, or a frontend's backend is unknown
     */
    public Config {
        frontends = List.copyOf(frontends);
        backends = List.copyOf(backends);
        requireDistinct("frontend", frontends.stream().map(FrontendConfig::name).toList());
        List<String> names = backends.stream().map(BackendConfig::name).toList();
        requireDistinct("backend", names);
        for (FrontendConfig frontend : frontends) {
            if (!names.contains(frontend.backend())) {
                throw new IllegalArgumentException("frontend " + Text.quote(frontend.name()) + ": backend "
                        + Text.quote(frontend.backend()) + " is unknown; there are " + names);
            }
        }
    }

    static void requireDistinct(String what, List<String> names) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("no " + what + " is given; at least one is needed");
        }
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            if (!seen.add(name)) {
                throw new IllegalArgumentException(what + " name " + Text.quote(name) + " is used twice");
            }
        }
    }
}
