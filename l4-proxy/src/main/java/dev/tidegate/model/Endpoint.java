package dev.tidegate.model;

/**
 * One address in a backend, as one snapshot sees it. Immutable, save for its cell.
 *
 * @param name unique in its backend
 * @param weight in force, 0 to 1000; 0 takes no new connections
 * @param maxConnections {@link Integer#MAX_VALUE} for no limit
 * @param cell what outlives the snapshot
 * @param origin where it and its weight come from
 */
public record Endpoint(String name, int weight, int maxConnections, EndpointCell cell, Origin origin) {
    /**
     * Where an endpoint and its weight come from. Immutable.
     *
     * @param configuredWeight what the configuration says, or who added it
     * @param runtimeWeight whether an operator has set the weight in force
     * @param added whether an operator has added the endpoint
     */
    public record Origin(int configuredWeight, boolean runtimeWeight, boolean added) {}

    /** The greatest weight. */
    public static final int MAX_WEIGHT = 1000;

    /** Checks ranges. */
    public Endpoint {
        if (weight < 0 || weight > MAX_WEIGHT) {
            throw new IllegalArgumentException(
                    "endpoint \"" + name + "\": weight " + weight + " is out of range (0.." + MAX_WEIGHT + ")");
        }
        if (maxConnections < 1) {
            throw new IllegalArgumentException(
                    "endpoint \"" + name + "\": max-connections " + maxConnections + " is below 1");
        }
    }

    /** An endpoint as the configuration has it. */
    public Endpoint(String name, int weight, int maxConnections, EndpointCell cell) {
        this(name, weight, maxConnections, cell, new Origin(weight, false, false));
    }

    /** Whether it takes new connections, when it is not full. */
    public boolean takesConnections() {
        return weight > 0 && cell.resolved() && cell.open();
    }

    /** Whether a pick may choose it now. Another thread may fill it meanwhile: acquiring decides. */
    public boolean pickable() {
        return takesConnections() && cell.inFlight() < maxConnections;
    }

    /** Counts a connection on it, within its limit. */
    public boolean tryAcquire() {
        return cell.tryAcquire(maxConnections);
    }
}
