package dev.tidegate.control;

import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Which connections of a backend are above the fair shares of its endpoints.
 *
 * <p>Shared are the connections of all endpoints that take new ones, and those that are on their way to them: what is
 * leaving already, of whatever endpoint, and what is on an endpoint that is drained or was taken away. So nobody is sent
 * away whose place is not going to be needed. A connection that is leaving is never counted as one that has to.
 *
 * <p>Called by control's thread.
 */
final class Excess {
    /** A connection, as its worker saw it. */
    private record Seen(
            Resident resident, EndpointCell endpoint, boolean leaving, long acceptedNanos, long progressNanos) {}

    private Excess() {}

    /**
     * Those that are to go: of each endpoint its excess, those silent for longest first, then the oldest.
     *
     * @param maxSharePercent of its fair share, what an endpoint keeps; 100 or more
     */
    static Set<Resident> of(Backend backend, int maxSharePercent, List<Worker> workers) {
        List<Endpoint> taking =
                backend.endpoints().all().stream().filter(Endpoint::sound).toList();
        Map<EndpointCell, List<Seen>> staying = new HashMap<>();
        taking.forEach(endpoint -> staying.put(endpoint.cell(), new ArrayList<>()));
        long connections = 0;
        for (Seen each : look(backend, workers)) {
            List<Seen> place = staying.get(each.endpoint());
            if (place != null && !each.leaving()) {
                place.add(each);
                connections++;
            } else if (each.leaving() || mustLeave(each.endpoint())) {
                connections++;
            }
        }
        Map<Endpoint, Long> shares = FairShares.of(taking, connections, maxSharePercent);
        Set<Resident> excess = new HashSet<>();
        for (Endpoint endpoint : taking) {
            List<Seen> on = staying.get(endpoint.cell());
            on.stream()
                    .sorted(Comparator.comparingLong(Seen::progressNanos).thenComparingLong(Seen::acceptedNanos))
                    .limit(Math.max(0, on.size() - shares.get(endpoint)))
                    .forEach(each -> excess.add(each.resident()));
        }
        return excess;
    }

    /** Of one that is disabled, or has weight 0, connections stay. */
    private static boolean mustLeave(EndpointCell endpoint) {
        return endpoint.closed(EndpointCell.Closed.DRAINING) || endpoint.closed(EndpointCell.Closed.REMOVED);
    }

    /** A worker that is stuck is not waited for: its connections stay where they are. */
    private static Collection<Seen> look(Backend backend, List<Worker> workers) {
        Collection<Seen> seen = new ConcurrentLinkedQueue<>();
        Loops.tryRun(workers, worker -> look(worker, backend, seen), Loops.PATIENCE);
        return List.copyOf(seen);
    }

    private static void look(Worker worker, Backend backend, Collection<Seen> into) {
        worker.forEachResident(resident -> {
            EndpointCell endpoint = resident.endpoint();
            if (endpoint != null && endpoint.backend().equals(backend.name())) {
                into.add(new Seen(
                        resident, endpoint, resident.leaving(), resident.acceptedNanos(), resident.progressNanos()));
            }
        });
    }
}
