package dev.tidegate.connection;

import dev.tidegate.lifetime.Lifespan;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.WorkerCounters;

/**
 * The endpoint's first byte: whether it has come, by when it is to come, and who is told what that says of the endpoint.
 *
 * <p>Confined to the connection's worker.
 */
final class FirstAnswer {
    private final WorkerCounters counters;
    private final EndpointWatch watch;
    private long nanos = AccessRecord.NONE;
    private long dueNanos;
    private boolean due;

    FirstAnswer(WorkerCounters counters, EndpointWatch watch) {
        this.counters = counters;
        this.watch = watch;
    }

    /** From accept until it came; {@link AccessRecord#NONE} before. */
    long nanos() {
        return nanos;
    }

    boolean begun() {
        return nanos != AccessRecord.NONE;
    }

    /** Whether it is to come by {@link #dueNanos}. */
    boolean due() {
        return due;
    }

    long dueNanos() {
        return dueNanos;
    }

    /**
     * The client's first bytes are with the endpoint.
     *
     * @return whether its answer is due by a time from now on
     */
    boolean await(long nowNanos) {
        long limit = watch.firstByteNanos();
        due = limit != EndpointWatch.ANY_TIME;
        dueNanos = nowNanos + limit;
        return due;
    }

    /**
     * It has come.
     *
     * @param sinceAcceptNanos how long it took
     * @param held by whom; null when the connection has let it go meanwhile
     */
    void begins(long sinceAcceptNanos, Endpoint held) {
        nanos = sinceAcceptNanos;
        due = false;
        if (held != null) {
            counters.endpoint(held.cell().slot()).answered++;
            watch.onAnswered(held.cell());
        }
    }

    /** That it is late counts against the endpoint, once; the connection goes on. */
    void lookIfLate(long nowNanos, Endpoint held) {
        if (due && nowNanos - dueNanos >= 0) {
            blame(Failure.SILENT, held);
            dueNanos = nowNanos + Lifespan.NEVER;
        }
    }

    /** The connection has lasted. Where the client speaks and never the endpoint, this is all the good there is to hear of it. */
    void lookIfBorne(Endpoint held) {
        if (!begun() && !due) {
            watch.onAnswered(held.cell());
        }
    }

    void blame(Failure failure, Endpoint held) {
        if (held != null) {
            counters.endpoint(held.cell().slot()).countFailure(failure);
            watch.onFailure(held.cell(), failure);
        }
    }
}
