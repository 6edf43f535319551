package dev.tidegate.admin;

import java.util.List;
import java.util.Locale;

/**
 * Whether new connections should be sent here, and what speaks against it. Immutable.
 *
 * @param state where the process is in its life
 * @param frontends the frontends that were asked about; empty when a named one does not exist
 */
public record Readiness(State state, List<FrontendReadiness> frontends) {
    /** Copies the list. */
    public Readiness {
        frontends = List.copyOf(frontends);
    }

    /** Where the process is in its life. */
    public enum State {
        /** Not all listeners are open yet. */
        STARTING,
        /** Takes connections. */
        READY,
        /** On its way out. */
        DRAINING;

        private final String word = name().toLowerCase(Locale.ROOT);

        /** The word as the API shows it. */
        public String word() {
            return word;
        }
    }

    /**
     * One frontend's part.
     *
     * @param name its name
     * @param candidate whether a pick for it would find an endpoint now
     */
    public record FrontendReadiness(String name, boolean candidate) {}

    /** Ready, and at least one of the frontends asked about has a candidate. */
    public boolean ready() {
        return state == State.READY && frontends.stream().anyMatch(FrontendReadiness::candidate);
    }

    /** The frontends whose connections would find no endpoint, by name. */
    public List<String> withoutCandidate() {
        return frontends.stream()
                .filter(frontend -> !frontend.candidate())
                .map(FrontendReadiness::name)
                .toList();
    }
}
