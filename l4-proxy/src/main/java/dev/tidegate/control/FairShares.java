package dev.tidegate.control;

import dev.tidegate.model.Endpoint;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How many connections each endpoint may keep, of all that there are to share: its part by weight, and no more than it has
 * room for, in which case the others share what it has no room for. Stateless; any thread.
 */
public final class FairShares {
    private static final int PERCENT = 100;

    private FairShares() {}

    /**
     * What each may keep. A share is rounded up, and widened by {@code maxSharePercent} rounded down: so a few connections
     * are spread evenly too, and one is never taken twice.
     *
     * @param endpoints those that take connections
     * @param connections to be shared among them
     * @param maxSharePercent of a fair share, what an endpoint keeps; 100 or more
     */
    public static Map<Endpoint, Long> of(List<Endpoint> endpoints, long connections, int maxSharePercent) {
        Map<Endpoint, Long> full = full(endpoints, connections);
        long weights = weights(endpoints, full);
        long left = left(connections, full);
        Map<Endpoint, Long> shares = new HashMap<>(full);
        for (Endpoint endpoint : endpoints) {
            if (!full.containsKey(endpoint)) {
                long fair = (left * endpoint.weight() + weights - 1) / weights;
                long widened = left * endpoint.weight() * maxSharePercent / (weights * PERCENT);
                shares.put(endpoint, Math.max(fair, widened));
            }
        }
        return shares;
    }

    /** Those that have less room than their part, with their room. Each that is found leaves more to the others. */
    private static Map<Endpoint, Long> full(List<Endpoint> endpoints, long connections) {
        Map<Endpoint, Long> full = new HashMap<>();
        boolean found = true;
        while (found) {
            found = false;
            long weights = weights(endpoints, full);
            long left = left(connections, full);
            for (Endpoint endpoint : endpoints) {
                if (!full.containsKey(endpoint) && endpoint.maxConnections() * weights < left * endpoint.weight()) {
                    full.put(endpoint, (long) endpoint.maxConnections());
                    found = true;
                }
            }
        }
        return full;
    }

    private static long left(long connections, Map<Endpoint, Long> full) {
        return connections - full.values().stream().mapToLong(Long::longValue).sum();
    }

    private static long weights(List<Endpoint> endpoints, Map<Endpoint, Long> without) {
        return endpoints.stream()
                .filter(endpoint -> !without.containsKey(endpoint))
                .mapToLong(Endpoint::weight)
                .sum();
    }
}
