package dev.tidegate.worker;

import dev.tidegate.model.CloseReason;

/** A connection as its worker's table sees it. Confined to the worker's loop. */
public interface Resident {
    /** Its number on this worker. */
    long sequence();

    /**
     * Marks it retiring. What is retiring already keeps its first reason, and the earlier hard limit.
     *
     * @param reason why
     * @param startNanos when its retirement begins
     * @param hardNanos when it ends, whatever it does then
     */
    void retire(CloseReason reason, long startNanos, long hardNanos);

    /** Ends it now, with a reset on both sides. */
    void abort(CloseReason reason);

    /**
     * Looks at the kernel's word on sockets that the event loop cannot hear of, and ends the connection when one is gone.
     *
     * @param nowNanos the time now
     */
    void checkSockets(long nowNanos);
}
