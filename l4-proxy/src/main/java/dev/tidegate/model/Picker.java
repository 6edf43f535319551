package dev.tidegate.model;

import java.util.random.RandomGenerator;

/**
 * Chooses an endpoint of a backend. One picker serves one backend and is shared by all workers, so that policies with a
 * memory (round-robin) take turns over the whole process; implementations are safe for any thread.
 */
public interface Picker {
    /** What {@link #pick} answers when there is no candidate. */
    int NONE = -1;

    /**
     * Chooses.
     *
     * @param endpoints all endpoints of the backend
     * @param tried endpoints to leave out
     * @param random the caller's randomness
     * @return an index into {@code endpoints}, or {@link #NONE}
     */
    int pick(EndpointList endpoints, Tried tried, RandomGenerator random);
}
