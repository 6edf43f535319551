package dev.tidegate.control;

import dev.tidegate.fitness.Tally;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Failure;
import dev.tidegate.telemetry.Totals;
import dev.tidegate.worker.Worker;
import java.util.List;

/** What workers have counted of endpoints. Any thread. */
final class WorkersTally implements Tally {
    private final List<Worker> workers;

    /** @param workers all of them; may be filled later */
    WorkersTally(List<Worker> workers) {
        this.workers = workers;
    }

    @Override
    public long answered(EndpointCell endpoint) {
        return totals().ofEndpoint(endpoint.slot(), row -> row.answered);
    }

    @Override
    public long failures(EndpointCell endpoint) {
        long sum = 0;
        for (Failure failure : Failure.values()) {
            sum += totals().ofEndpoint(endpoint.slot(), row -> row.failures(failure));
        }
        return sum;
    }

    private Totals totals() {
        return new Totals(workers.stream().map(Worker::counters).toList());
    }
}
