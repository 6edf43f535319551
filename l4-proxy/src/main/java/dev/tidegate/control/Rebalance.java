package dev.tidegate.control;

import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which connections of a backend are above the fair shares of its endpoints. An endpoint's fair share is its part, by
 * weight, of the connections on all endpoints that can be picked now; rounded up, so that a share is never taken twice.
 *
 * <p>Called by control's thread.
 */
final class Rebalance {
    /** A connection, as its worker saw it. */
    record Seen(Resident resident, EndpointCell endpoint, long acceptedNanos, long progressNanos) {}

    private Rebalance() {}

    /** Those that are to go: of each endpoint its excess, those silent for longest first, then the oldest. */
    static Set<Resident> excess(Backend backend, List<Worker> workers) {
        Map<EndpointCell, List<Seen>> byEndpoint = new HashMap<>();
        for (List<Seen> part : Loops.ask(workers, worker -> seen(worker, backend))) {
            part.forEach(each -> byEndpoint
                    .computeIfAbsent(each.endpoint(), missing -> new ArrayList<>())
                    .add(each));
        }
        List<Endpoint> pickable =
                backend.endpoints().all().stream().filter(Endpoint::pickable).toList();
        long weights = pickable.stream().mapToLong(Endpoint::weight).sum();
        long connections = pickable.stream()
                .mapToLong(endpoint ->
                        byEndpoint.getOrDefault(endpoint.cell(), List.of()).size())
                .sum();
        Set<Resident> excess = new HashSet<>();
        for (Endpoint endpoint : pickable) {
            List<Seen> on = byEndpoint.getOrDefault(endpoint.cell(), List.of());
            long share = (connections * endpoint.weight() + weights - 1) / weights;
            on.stream()
                    .sorted(Comparator.comparingLong(Seen::progressNanos).thenComparingLong(Seen::acceptedNanos))
                    .limit(Math.max(0, on.size() - share))
                    .forEach(each -> excess.add(each.resident()));
        }
        return excess;
    }

    private static List<Seen> seen(Worker worker, Backend backend) {
        List<Seen> seen = new ArrayList<>();
        worker.forEachResident(resident -> {
            EndpointCell endpoint = resident.endpoint();
            if (endpoint != null && endpoint.backend().equals(backend.name())) {
                seen.add(new Seen(resident, endpoint, resident.acceptedNanos(), resident.progressNanos()));
            }
        });
        return seen;
    }
}
