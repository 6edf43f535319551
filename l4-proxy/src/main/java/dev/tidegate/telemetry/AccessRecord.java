package dev.tidegate.telemetry;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import java.net.SocketAddress;

/**
 * What the access log says of one connection. Made by the connection's worker when it is over, then handed to the log's
 * writer thread; not changed after that. Absent values are null (objects) or {@link #NONE} (numbers).
 *
 * <p>Addresses are kept as objects: making text of them is the writer's work, not the worker's.
 */
public final class AccessRecord {
    /** A number that there is none of, such as the time of a first byte that never came. */
    public static final long NONE = -1;

    /** The worker that had the connection, and the connection's number there: together its id. */
    public int worker;
    /** See {@link #worker}. */
    public long sequence;

    public String frontend;
    public String listener;
    public SocketAddress client;
    /** The local address that the client connected to. */
    public SocketAddress local;

    public String backend;
    public String endpoint;
    /** The address that was reached or tried last. */
    public SocketAddress endpointAddress;

    public long generation;
    /** From accept until the endpoint was connected. */
    public long connectNanos = NONE;
    /** From accept until the first byte from the endpoint. */
    public long firstByteNanos = NONE;
    /** From accept until the end. */
    public long durationNanos;
    /** Bytes read from the client. */
    public long bytesReceived;
    /** Bytes handed to the client's socket. */
    public long bytesSent;

    public Protocol protocol = Protocol.TCP;
    /** Requests, or exchanges where requests cannot be seen. */
    public long requests;

    public int attempts;
    /** The side that began the end; null when Tidegate did. */
    public Side closedBy;

    public CloseReason reason;
    /** Null when it was not retired. */
    public RetireHow how;
    /** Whether the end came in the middle of something. */
    public boolean cutMidExchange;

    /** The wall clock's time of the end, in milliseconds since 1970; set when the log takes the record. */
    long endMillis;
}
