package dev.tidegate.model;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * What of a frontend outlives a snapshot: how many connections it holds. Counted by any worker, exactly.
 */
public final class FrontendCell {
    private final String name;
    private final int slot;
    private final AtomicInteger active = new AtomicInteger();

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

    /** Counts one more. */
    public int enter() {
        return active.incrementAndGet();
    }

    /** Counts one less. */
    public void leave() {
        int left = active.decrementAndGet();
        assert left >= 0 : name;
    }
}
