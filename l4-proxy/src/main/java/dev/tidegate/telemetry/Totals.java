package dev.tidegate.telemetry;

import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Sums of what all workers count, by slot. Any thread; a sum may be a moment behind.
 *
 * @param workers the rows of all workers
 */
public record Totals(List<WorkerCounters> workers) {
    /** Copies the list. */
    public Totals {
        workers = List.copyOf(workers);
    }

    /** The sum over the rows of one frontend. */
    public long ofFrontend(int slot, ToLongFunction<FrontendRow> count) {
        return sum(worker -> worker.readFrontend(slot), count);
    }

    /** The sum over the rows of one backend. */
    public long ofBackend(int slot, ToLongFunction<BackendRow> count) {
        return sum(worker -> worker.readBackend(slot), count);
    }

    /** The sum over the rows of one endpoint. */
    public long ofEndpoint(int slot, ToLongFunction<EndpointRow> count) {
        return sum(worker -> worker.readEndpoint(slot), count);
    }

    private <R> long sum(Function<WorkerCounters, R> row, ToLongFunction<R> count) {
        long sum = 0;
        for (WorkerCounters worker : workers) {
            R found = row.apply(worker);
            if (found != null) {
                sum += count.applyAsLong(found);
            }
        }
        return sum;
    }
}
