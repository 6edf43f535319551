package dev.tidegate.telemetry;

import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Snapshot;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** What metrics are made from. Used by one thread at a time. */
final class MetricSource {
    private final Supplier<Snapshot> snapshot;
    private final List<WorkerCounters> workers;
    private final ReloadCounts reloads;
    private final AccessLog accessLog;
    private final String version;
    private final LongSupplier nanoTime;
    private final RecentRequests recent;
    /** Every frontend ever seen: its totals stay when it goes, and connections it still holds are still counted. */
    private final Map<String, FrontendCell> frontends = new LinkedHashMap<>();

    MetricSource(
            Supplier<Snapshot> snapshot,
            List<WorkerCounters> workers,
            ReloadCounts reloads,
            AccessLog accessLog,
            String version,
            LongSupplier nanoTime) {
        this.snapshot = snapshot;
        this.workers = workers;
        this.reloads = reloads;
        this.accessLog = accessLog;
        this.version = version;
        this.nanoTime = nanoTime;
        this.recent = new RecentRequests(nanoTime.getAsLong());
    }

    /** The state of one moment: the current snapshot, and the rows as they are read. */
    View read() {
        Snapshot now = snapshot.get();
        for (Frontend frontend : now.frontends()) {
            frontends.put(frontend.name(), frontend.cell());
        }
        return new View(
                now,
                List.copyOf(frontends.values()),
                workers,
                reloads,
                accessLog.dropped(),
                version,
                recent.since(requests(now), nanoTime.getAsLong()));
    }

    private Map<EndpointCell, Long> requests(Snapshot now) {
        Totals totals = new Totals(workers);
        Map<EndpointCell, Long> requests = new HashMap<>();
        for (Backend backend : now.backends()) {
            for (Endpoint endpoint : backend.endpoints().all()) {
                int slot = endpoint.cell().slot();
                requests.put(endpoint.cell(), totals.ofEndpoint(slot, row -> row.requests));
            }
        }
        return requests;
    }

    /**
     * What one scrape sees.
     *
     * @param snapshot the current one
     * @param frontends those of the snapshot and those gone
     * @param workers the rows of all workers
     * @param reloads how reloads came out
     * @param accessLogDropped dropped lines
     * @param version of this build
     * @param recentRequests how many each endpoint has had of late
     */
    record View(
            Snapshot snapshot,
            List<FrontendCell> frontends,
            List<WorkerCounters> workers,
            ReloadCounts reloads,
            long accessLogDropped,
            String version,
            Map<EndpointCell, Long> recentRequests) {
        long sum(FrontendCell frontend, ToLongFunction<FrontendRow> count) {
            return totals().ofFrontend(frontend.slot(), count);
        }

        long sum(Endpoint endpoint, ToLongFunction<EndpointRow> count) {
            return totals().ofEndpoint(endpoint.cell().slot(), count);
        }

        long sumOfBackend(int slot, ToLongFunction<BackendRow> count) {
            return totals().ofBackend(slot, count);
        }

        /** Each worker's histogram; fewer than workers when some have no row. */
        <R> List<Histogram> histograms(Function<WorkerCounters, R> row, Function<R, Histogram> histogram) {
            return workers.stream()
                    .map(row)
                    .filter(found -> found != null)
                    .map(histogram)
                    .toList();
        }

        private Totals totals() {
            return new Totals(workers);
        }
    }
}
