package dev.tidegate.model;

import java.util.List;

/**
 * The picture of frontends, backends and endpoints that a connection reads once, when it is admitted. Immutable; control
 * publishes a new one for every accepted change.
 *
 * @param generation rises by one with every accepted change, from 1
 * @param frontends in the order of the configuration
 * @param backends in the order of the configuration
 */
public record Snapshot(long generation, List<Frontend> frontends, List<Backend> backends) {
    /** Copies the lists. */
    public Snapshot {
        frontends = List.copyOf(frontends);
        backends = List.copyOf(backends);
    }

    /**
     * The frontend of that name.
     *
     * @return null when there is none
     */
    public Frontend frontend(String name) {
        for (Frontend frontend : frontends) {
            if (frontend.name().equals(name)) {
                return frontend;
            }
        }
        return null;
    }
}
