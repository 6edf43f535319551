package dev.tidegate.connection;

import dev.tidegate.model.Side;
import dev.tidegate.relay.Flow;

/**
 * What a connection still does once it is decided why it ends. It hears of all that happens meanwhile, and finishes the
 * connection.
 *
 * <p>Confined to the connection's worker.
 */
sealed interface LastAct permits FlushAfterReset, Goodbye {
    void onDeadline(long nowNanos);

    /** A side's last byte has been read. */
    void onFin(Side from);

    /** All that a flow had has left this process. */
    void onDrained(Flow flow);

    /** What was written to a side did not leave. */
    void onWriteFailed(Side side);

    /** A side's socket is dead. */
    void onFault(Side side);
}
