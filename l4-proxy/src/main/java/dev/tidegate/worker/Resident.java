package dev.tidegate.worker;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;

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

    /** Takes the mark back, if it has that reason and has not begun to end: it stays as if it had never been marked. */
    void stay(CloseReason reason);

    /** The frontend that it came in by. */
    FrontendCell frontend();

    /** The endpoint that it is counted on, or was tried last while none is connected; null when there is none. */
    EndpointCell endpoint();

    /** The generation of the snapshot whose endpoints it may still pick; {@link Long#MAX_VALUE} once it picks no more. */
    long picksUnder();

    /** Ends it now, with a reset on both sides. */
    void abort(CloseReason reason);
}
