package dev.tidegate.model;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * What of a frontend outlives a snapshot: how many connections it holds, and whether those to come are to leave again.
 * Counted by any worker, exactly; told by control.
 */
public final class FrontendCell {
    private final String name;
    private final int slot;
    private final AtomicInteger active = new AtomicInteger();
    private final RetireOrder ofAge = RetireOrder.everywhere(CloseReason.MAX_AGE);
    private final RetireOrder ofRequests = RetireOrder.everywhere(CloseReason.MAX_REQUESTS);
    private final RetireOrder ofBytes = RetireOrder.everywhere(CloseReason.MAX_BYTES);
    private volatile BornRetiring bornRetiring; // writer: control

    /**
     * @param name the frontend's name
     * @param slot its place in each worker's counters
     */
    public FrontendCell(String name, int slot) {
        this.name = name;
        this.slot = slot;
    }

    /** The frontend's name. */
    public String name() {
        return name;
    }

    /** Its place in each worker's counters. */
    public int slot() {
        return slot;
    }

    /** Connections accepted and not yet gone, lingering ones included. */
    public int active() {
        return active.get();
    }

    /**
     * Counts one more, unless {@code max} are there already. Exact under contention.
     *
     * @return whether it was counted; if so, {@link #leave()} must follow, once
     */
    public boolean tryEnter(int max) {
        int seen = active.get();
        while (seen < max) {
            int witness = active.compareAndExchange(seen, seen + 1);
            if (witness == seen) {
                return true;
            }
            seen = witness;
        }
        return false;
    }

    /** What retires a connection that has come to the age it may have. */
    public RetireOrder ofAge() {
        return ofAge;
    }

    /** What retires a connection that has carried the requests it may carry. */
    public RetireOrder ofRequests() {
        return ofRequests;
    }

    /** What retires a connection that has carried the bytes it may carry. */
    public RetireOrder ofBytes() {
        return ofBytes;
    }

    /** What connections that come now are retired by; null when they may stay. */
    public BornRetiring bornRetiring() {
        return bornRetiring;
    }

    /** Says whether connections from now on are born retiring. Called by control only. */
    public void setBornRetiring(BornRetiring now) {
        bornRetiring = now;
    }

    /** Counts one less. */
    public void leave() {
        int left = active.decrementAndGet();
        assert left >= 0 : name;
    }
}
