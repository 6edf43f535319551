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

    /** Whether it takes new connections, when it is fit and not full. */
    public boolean takesConnections() {
        return weight > 0 && cell.resolved() && cell.open();
    }

    /** Whether it takes new connections and nothing speaks against it. */
    public boolean sound() {
        return takesConnections() && cell.fitness().sound();
    }

    /** Whether it has room for one more. Another thread may fill it meanwhile: acquiring decides. */
    public boolean hasRoom() {
        return cell.inFlight() < limit();
    }

    /** Whether a pick may choose it now, were its backend not in panic. */
    public boolean pickable() {
        return takesConnections() && cell.fitness().fit() && hasRoom();
    }

    /** Its weight as picks see it, in thousandths: less than its weight during a slow start. */
    public long effectiveWeight() {
        return (long) weight * cell.fitness().share();
    }

    /** How many connections it takes at a time now: fewer than its limit during a slow start, but one in any case. */
    public int limit() {
        if (maxConnections == Integer.MAX_VALUE) {
            return maxConnections;
        }
        return (int) Math.max(1, (long) maxConnections * cell.fitness().share() / Fitness.FULL_SHARE);
    }

    /** Counts a connection on it, within its limit. */
    public boolean tryAcquire() {
        return cell.tryAcquire(limit());
    }
}
