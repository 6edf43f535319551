package dev.tidegate.telemetry;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;

/**
 * One worker's counts for one frontend. The worker adds plainly; readers sum the rows of all workers and may be a moment
 * behind.
 */
public final class FrontendRow {
    /** Connections accepted. */
    public long accepted;
    /** Bytes read from clients. */
    public long receivedBytes;
    /** Bytes handed to clients' sockets. */
    public long sentBytes;
    /** Connections cut in the middle of something. */
    public long cutMidExchange;
    /** How long ended connections lived. */
    public final Histogram duration = Histogram.ofConnections();

    private final long[] closed = new long[CloseReason.values().length];
    private final long[] requests = new long[Protocol.values().length];
    private final long[] retired = new long[CloseReason.values().length * RetireHow.values().length];

    FrontendRow() {}

    /** Counts a request of a client, or an exchange where requests cannot be seen. */
    public void countRequest(Protocol protocol) {
        requests[protocol.ordinal()]++;
    }

    /** Requests, or exchanges, of that protocol. */
    public long requests(Protocol protocol) {
        return requests[protocol.ordinal()];
    }

    /** Counts an end. */
    public void countClosed(CloseReason reason) {
        closed[reason.ordinal()]++;
    }

    /** Counts a retirement. */
    public void countRetired(CloseReason reason, RetireHow how) {
        retired[reason.ordinal() * RetireHow.values().length + how.ordinal()]++;
    }

    /** Connections that ended so. */
    public long closed(CloseReason reason) {
        return closed[reason.ordinal()];
    }

    /** Connections retired for that reason, in that way. */
    public long retired(CloseReason reason, RetireHow how) {
        return retired[reason.ordinal() * RetireHow.values().length + how.ordinal()];
    }
}
