package dev.tidegate.fitness;

import dev.tidegate.model.EndpointCell;

/** What workers have counted of an endpoint since the process began. */
public interface Tally {
    /** Connections that it began to answer. */
    long answered(EndpointCell endpoint);

    /** What speaks against it, of every kind. */
    long failures(EndpointCell endpoint);
}
