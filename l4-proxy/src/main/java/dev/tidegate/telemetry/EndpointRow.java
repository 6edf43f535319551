package dev.tidegate.telemetry;

import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Failure;

/** One worker's counts for one endpoint. The worker adds plainly; readers sum. */
public final class EndpointRow {
    /** Times a pick chose it. */
    public long picks;
    /** Requests of clients, or exchanges where requests cannot be seen, on connections to it. */
    public long requests;
    /** How long successful connects took. */
    public final Histogram connectDuration = Histogram.ofConnects();

    private final long[] connects = new long[ConnectResult.values().length];
    private final long[] failures = new long[Failure.values().length];
    /** Connections that it began to answer. */
    public long answered;

    EndpointRow() {}

    /** Counts an attempt. */
    public void countConnect(ConnectResult result) {
        connects[result.ordinal()]++;
    }

    /** Counts what speaks against it. */
    public void countFailure(Failure failure) {
        failures[failure.ordinal()]++;
    }

    /** How often that has spoken against it. */
    public long failures(Failure failure) {
        return failures[failure.ordinal()];
    }

    /** Attempts that came out so. */
    public long connects(ConnectResult result) {
        return connects[result.ordinal()];
    }
}
