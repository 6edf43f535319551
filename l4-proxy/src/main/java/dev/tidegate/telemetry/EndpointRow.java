package dev.tidegate.telemetry;

import dev.tidegate.model.ConnectResult;

/** One worker's counts for one endpoint. The worker adds plainly; readers sum. */
public final class EndpointRow {
    /** Times a pick chose it. */
    public long picks;
    /** Requests of clients, or exchanges where requests cannot be seen, on connections to it. */
    public long requests;
    /** How long successful connects took. */
    public final Histogram connectDuration = Histogram.ofConnects();

    private final long[] connects = new long[ConnectResult.values().length];

    EndpointRow() {}

    /** Counts an attempt. */
    public void countConnect(ConnectResult result) {
        connects[result.ordinal()]++;
    }

    /** Attempts that came out so. */
    public long connects(ConnectResult result) {
        return connects[result.ordinal()];
    }
}
