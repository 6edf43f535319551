package dev.tidegate.model;

/**
 * One address in a backend, as one snapshot sees it. Immutable, save for its cell.
 *
 * @param name unique in its backend
 * @param weight 0 to 1000; 0 takes no new connections
 * @param maxConnections {@link Integer#MAX_VALUE} for no limit
 * @param cell what outlives the snapshot
 */
public record Endpoint(String name, int weight, int maxConnections, EndpointCell cell) {
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

    /** Whether a pick may choose it now. Another thread may fill it meanwhile: acquiring decides. */
    public boolean pickable() {
        return weight > 0 && cell.resolved() && !cell.removed() && cell.inFlight() < maxConnections;
    }

    /** Counts a connection on it, within its limit. */
    public boolean tryAcquire() {
        return cell.tryAcquire(maxConnections);
    }
}
