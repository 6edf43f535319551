package dev.tidegate.model;

import java.util.List;

/**
 * The endpoints of one backend in one snapshot, with what a draw by weight needs worked out once.
 *
 * <p>Immutable.
 */
public final class EndpointList {
    private final Endpoint[] endpoints;
    private final long[] weightsUpTo;
    private final boolean equalWeights;
    private final BackendCell backend;

    /** Endpoints of a backend that never is in panic. */
    public EndpointList(List<Endpoint> list) {
        this(list, new BackendCell("", 0));
    }

    /** Takes the endpoints in the order of the configuration. */
    public EndpointList(List<Endpoint> list, BackendCell backend) {
        this.backend = backend;
        endpoints = list.toArray(Endpoint[]::new);
        weightsUpTo = new long[endpoints.length];
        long sum = 0;
        boolean equal = true;
        for (int i = 0; i < endpoints.length; i++) {
            sum += endpoints[i].weight();
            weightsUpTo[i] = sum;
            equal &= endpoints[i].weight() == endpoints[0].weight();
        }
        equalWeights = equal;
    }

    /** How many there are. */
    public int size() {
        return endpoints.length;
    }

    /** The endpoint at an index. */
    public Endpoint at(int index) {
        return endpoints[index];
    }

    /**
     * Whether a pick may choose the endpoint at an index now: it is pickable or, while the backend spreads connections over
     * all, would be but for its fitness.
     */
    public boolean candidate(int index) {
        Endpoint endpoint = endpoints[index];
        return endpoint.takesConnections()
                && (endpoint.cell().fitness().fit() || backend.spreading())
                && endpoint.hasRoom();
    }

    /** Whether endpoints that are not fit are candidates too. */
    public boolean spreading() {
        return backend.spreading();
    }

    /** The sum of all weights; 0 when nothing may be picked. */
    public long totalWeight() {
        return endpoints.length == 0 ? 0 : weightsUpTo[endpoints.length - 1];
    }

    /** Whether all have the same weight. */
    public boolean equalWeights() {
        return equalWeights;
    }

    /**
     * The endpoint into whose share a point falls: a draw by weight, when the point is drawn evenly.
     *
     * @param point 0 (inclusive) to {@link #totalWeight()} (exclusive)
     */
    public int indexOfShare(long point) {
        int low = 0;
        int high = endpoints.length - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (point < weightsUpTo[middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** All of them, in order. */
    public List<Endpoint> all() {
        return List.of(endpoints);
    }
}
