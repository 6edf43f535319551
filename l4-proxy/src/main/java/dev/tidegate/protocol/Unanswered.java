package dev.tidegate.protocol;

/**
 * The requests whose final response head has not passed, oldest first; of each one bit: whether its method is HEAD. A ring
 * that begins with 64 bits and grows by doubling.
 *
 * <p>Confined to its connection's worker. Allocates only when more are pipelined than ever before on the connection.
 */
final class Unanswered {
    /** The most that are remembered. */
    static final int MAX = 1_024;

    private long[] bits = new long[1];
    private int first;
    private int size;

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Whether one more would be too many. */
    boolean isFull() {
        return size == MAX;
    }

    /** Adds the newest. */
    void add(boolean head) {
        if (size == bits.length * Long.SIZE) {
            grow();
        }
        set(bits, first + size & mask(bits), head);
        size++;
    }

    /** Takes the oldest away. */
    boolean poll() {
        boolean head = at(first);
        first = first + 1 & mask(bits);
        size--;
        return head;
    }

    private void grow() {
        long[] larger = new long[bits.length * 2];
        for (int i = 0; i < size; i++) {
            set(larger, i, at(first + i & mask(bits)));
        }
        bits = larger;
        first = 0;
    }

    private boolean at(int index) {
        return (bits[index >>> 6] >>> index & 1) != 0;
    }

    private static void set(long[] bits, int index, boolean value) {
        long bit = 1L << index;
        bits[index >>> 6] = value ? bits[index >>> 6] | bit : bits[index >>> 6] & ~bit;
    }

    private static int mask(long[] bits) {
        return bits.length * Long.SIZE - 1;
    }
}
