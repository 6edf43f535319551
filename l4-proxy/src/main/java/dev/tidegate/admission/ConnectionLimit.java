package dev.tidegate.admission;

import java.util.concurrent.atomic.AtomicInteger;

/** The most connections that the process holds at a time, counted exactly. Any thread. */
public final class ConnectionLimit {
    private final int max;
    private final AtomicInteger active = new AtomicInteger();

    /**
     * @param max 1 or more
     */
    public ConnectionLimit(int max) {
        this.max = max;
    }

    /** The most there may be. */
    public int max() {
        return max;
    }

    /** How many there are. */
    public int active() {
        return active.get();
    }

    /** Counts one more, if there is room. */
    public boolean tryEnter() {
        // Not counted up and down again: in between, others would be refused although there is room.
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

    /** Counts one less. */
    public void leave() {
        int left = active.decrementAndGet();
        assert left >= 0;
    }
}
