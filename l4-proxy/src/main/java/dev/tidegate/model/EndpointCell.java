package dev.tidegate.model;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What of an endpoint outlives a snapshot: its in-flight count and its resolved addresses. The same backend and address
 * keep the same cell over every reload, so counts never start again.
 *
 * <p>Read and counted by any worker; addresses are written by control.
 */
public final class EndpointCell {
    private final String backend;
    private final String address;
    private final int slot;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger nextAddress = new AtomicInteger();
    private volatile List<InetSocketAddress> addresses; // writer: control
    private volatile boolean removed; // writer: control

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

    /** Connections admitted to this endpoint and not yet released, connects under way included. */
    public int inFlight() {
        return inFlight.get();
    }

    /**
     * Counts one more connection, unless {@code max} are there already. Exact under contention, from any thread.
     *
     * @param max the most there may be; {@link Integer#MAX_VALUE} for no limit
     * @return whether it was counted; if so, {@link #release()} must follow, once
     */
    public boolean tryAcquire(int max) {
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

    /** Whether a reload has taken the endpoint away. Connections that still follow an older snapshot must not pick it. */
    public boolean removed() {
        return removed;
    }

    /** Says whether the endpoint is taken away. Called by control only. */
    public void setRemoved(boolean now) {
        removed = now;
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
