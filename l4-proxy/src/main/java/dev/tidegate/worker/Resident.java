package dev.tidegate.worker;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.RetireOrder;

/** A connection as its worker's table sees it. Confined to the worker's loop. */
public interface Resident {
    /** Its number on this worker. */
    long sequence();

    /**
     * Has it retired by an order, unless it is ending already. What others have ordered holds beside it: the first reason,
     * the earliest hard limit.
     *
     * @param order why
     * @param startNanos from when on it may end
     * @param hardNanos when it ends, whatever it does then
     */
    void retire(RetireOrder order, long startNanos, long hardNanos);

    /** Takes an order back: unless it has begun to end, it stays as if there had never been that order. */
    void stay(RetireOrder order);

    /** Its frontend's limits have changed: they count from when it was accepted. */
    void relimit(Lifetime limits);

    /** Whether it has that order, and has not ended. */
    boolean under(RetireOrder order);

    /** Whether it is going to leave: something has ordered it to, now or later, or it is ending. */
    boolean leaving();

    /** When it was accepted. */
    long acceptedNanos();

    /** When bytes last moved. */
    long progressNanos();

    /** All that an operator may want to see of it. */
    ResidentInfo info();

    /** The frontend that it came in by. */
    FrontendCell frontend();

    /** The endpoint that it is counted on, or was tried last while none is connected; null when there is none. */
    EndpointCell endpoint();

    /** The generation of the snapshot whose endpoints it may still pick; {@link Long#MAX_VALUE} once it picks no more. */
    long picksUnder();

    /** Ends it now, with a reset on both sides. */
    void abort(CloseReason reason);
}
