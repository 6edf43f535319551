package dev.tidegate.bench.sim;

import java.util.Arrays;

/**
 * A look-up table for consistent hashing: every backend takes the next free slot of its own order of all slots, in turn, until
 * the table is full. Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load Balancer" (NSDI 2016), section 3.4.
 *
 * <p>A reference for figures: no policy uses it yet. Immutable.
 */
final class MaglevTable {
    private final int[] slots;

    /**
     * @param size of the table, a prime
     * @param members which of the backends are there
     */
    MaglevTable(int size, boolean[] members) {
        slots = new int[size];
        Arrays.fill(slots, -1);
        long[] next = new long[members.length];
        long[] skips = new long[members.length];
        for (int i = 0; i < members.length; i++) {
            Chance hash = new Chance(i, 1); // of its name
            next[i] = hash.nextLong(size);
            skips[i] = 1 + hash.nextLong(size - 1L);
        }
        int filled = 0;
        while (filled < size) {
            for (int i = 0; i < members.length && filled < size; i++) {
                if (members[i]) {
                    take(i, next, skips);
                    filled++;
                }
            }
        }
    }

    private void take(int backend, long[] next, long[] skips) {
        int slot = (int) next[backend];
        while (slots[slot] >= 0) {
            next[backend] = (next[backend] + skips[backend]) % slots.length;
            slot = (int) next[backend];
        }
        slots[slot] = backend;
    }

    int at(int slot) {
        return slots[slot];
    }

    /** Slots of each backend. */
    int[] counts(int backends) {
        int[] counts = new int[backends];
        for (int backend : slots) {
            counts[backend]++;
        }
        return counts;
    }

    /** The share of all slots that another backend has in the other table. */
    double changed(MaglevTable other) {
        int changed = 0;
        for (int i = 0; i < slots.length; i++) {
            changed += slots[i] == other.slots[i] ? 0 : 1;
        }
        return (double) changed / slots.length;
    }
}
