package dev.tidegate.control;

/** How many connections a removal would retire. */
public interface OpenConnections {
    /** Connections accepted on a frontend and not yet gone. */
    int ofFrontend(String frontend);

    /** Connections in flight to an address of a backend. */
    int ofEndpoint(String backend, String address);
}
