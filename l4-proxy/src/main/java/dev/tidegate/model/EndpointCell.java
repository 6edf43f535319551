package dev.tidegate.model;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What of an endpoint outlives a snapshot: its in-flight count, its resolved addresses, and whether it takes new
 * connections at all. The same backend and address keep the same cell over every reload, so counts never start again.
 *
 * <p>Read and counted by any worker; the rest is written by control.
 */
public final class EndpointCell {
    private final String backend;
    private final String address;
    private final int slot;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger nextAddress = new AtomicInteger();
    private final Fitness fitness = new Fitness();
    private volatile List<InetSocketAddress> addresses; // writer: control
    private volatile int closed; // writer: control; bits of Closed, 0: takes new connections

    /** Why an endpoint takes no new connections, whatever its snapshot says. Connections that it has are not concerned. */
    public enum Closed {
        /** A reload or an operator has taken it away. */
        REMOVED,
        /** It is drained. */
        DRAINING,
        /** An operator has disabled it. */
        DISABLED,
        /** Its weight is 0. */
        WEIGHTLESS;

        private int bit() {
            return 1 << ordinal();
        }
    }

    /**
     * @param backend the backend's name
     * @param address the configured address in canonical form
     * @param slot a small number, unique in the process while the cell lives: its place in each worker's counters
     * @param addresses what the address resolves to now; empty when not (yet) resolved
     */
    public EndpointCell(String backend, String address, int slot, List<InetSocketAddress> addresses) {
        this.backend = backend;
        this.address = address;
        this.slot = slot;
        this.addresses = List.copyOf(addresses);
    }

    /** The backend's name. */
    public String backend() {
        return backend;
    }

    /** The configured address in canonical form. */
    public String address() {
        return address;
    }

    /** The cell's place in each worker's counters. */
    public int slot() {
        return slot;
    }

    /** How fit it is for new connections. */
    public Fitness fitness() {
        return fitness;
    }

    /** Connections admitted to this endpoint and not yet released, connects under way included. */
    public int inFlight() {
        return inFlight.get();
    }

    /**
     * Counts one more connection, unless it takes none or {@code max} are there already. Exact under contention, from any
     * thread: once {@link #close} has returned, nothing is counted any more.
     *
     * @param max the most there may be; {@link Integer#MAX_VALUE} for no limit
     * @return whether it was counted; if so, {@link #release()} must follow, once
     */
    public boolean tryAcquire(int max) {
        if (!tryCount(max)) {
            return false;
        }
        // Looked at after counting: whoever closes it sees the count, or this sees it closed.
        if (closed != 0) {
            release();
            return false;
        }
        return true;
    }

    private boolean tryCount(int max) {
        if (max == Integer.MAX_VALUE) {
            inFlight.getAndIncrement();
            return true;
        }
        int seen = inFlight.get();
        while (seen < max) {
            int witness = inFlight.compareAndExchange(seen, seen + 1);
            if (witness == seen) {
                return true;
            }
            seen = witness;
        }
        return false;
    }

    /** Gives back what {@link #tryAcquire} counted. From any thread. */
    public void release() {
        int left = inFlight.decrementAndGet();
        assert left >= 0 : address;
    }

    /** Whether it takes new connections, as far as that does not depend on a snapshot. */
    public boolean open() {
        return closed == 0;
    }

    /** Whether it takes none for that reason. */
    public boolean closed(Closed why) {
        return (closed & why.bit()) != 0;
    }

    /** Says whether it takes no new connections for that reason; it may have several. Called by control only. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer: control
    public void close(Closed why, boolean now) {
        if (now) {
            closed |= why.bit();
        } else {
            closed &= ~why.bit();
        }
    }

    /** Whether at least one address is known. */
    public boolean resolved() {
        return !addresses.isEmpty();
    }

    /** All addresses known now; empty when unresolved. */
    public List<InetSocketAddress> addresses() {
        return addresses;
    }

    /** Replaces the addresses. Called by control only. */
    public void resolve(List<InetSocketAddress> now) {
        addresses = List.copyOf(now);
    }

    /**
     * The address to try next: each in turn, so that a dead address of a name does not take every attempt, and of those
     * that the caller has not tried yet while there is one. (The turn is everybody's: alone it could bring one connection
     * to the same dead address each time.)
     *
     * @param tried what the caller has tried
     * @return null when unresolved
     */
    public InetSocketAddress nextAddress(Collection<InetSocketAddress> tried) {
        List<InetSocketAddress> all = addresses;
        if (all.size() <= 1) {
            return all.isEmpty() ? null : all.get(0);
        }
        int turn = nextAddress.getAndIncrement();
        for (int i = 0; i < all.size(); i++) {
            InetSocketAddress address = all.get(Math.floorMod(turn + i, all.size()));
            if (!tried.contains(address)) {
                return address;
            }
        }
        return all.get(Math.floorMod(turn, all.size()));
    }

    @Override
    public String toString() {
        return backend + "/" + address + " in-flight=" + inFlight.get();
    }
}
