package dev.tidegate.model;

/**
 * What of a backend outlives a snapshot: its place in counters, and whether it is in panic.
 *
 * <p>Read by any worker; written by control.
 */
public final class BackendCell {
    private final String name;
    private final int slot;
    private volatile boolean panic; // writer: control
    private volatile boolean spreading; // writer: control

    /**
     * @param name the backend's name
     * @param slot its place in each worker's counters
     */
    public BackendCell(String name, int slot) {
        this.name = name;
        this.slot = slot;
    }

    /** The backend's name. */
    public String name() {
        return name;
    }

    /** Its place in each worker's counters. */
    public int slot() {
        return slot;
    }

    /** Whether too few of its endpoints are fit. */
    public boolean panic() {
        return panic;
    }

    /** Whether endpoints that are not fit are candidates too. */
    public boolean spreading() {
        return spreading;
    }

    /** Called by control only. */
    public void panic(boolean now, boolean spread) {
        panic = now;
        spreading = spread;
    }

    @Override
    public String toString() {
        return name;
    }
}
