package dev.tidegate.protocol;

import dev.tidegate.model.Side;

/**
 * The open streams of one HTTP/2 connection (RFC 9113 section 5.1): which they are, and which of the two sides has ended.
 *
 * <p>An open-addressed table of one {@code int} per slot. It grows by half when three quarters are taken, so that a stream
 * takes 8 bytes at most, and is halved when three quarters are free again: one stream that lasts does not keep what a burst
 * took. Up to {@value #MAX_STREAMS} streams open at once. Of more than that it loses count, for good: from
 * then on nobody knows when none is open, so it says that some are, and keeps none. Confined to the connection's worker.
 * Allocates only when more streams are open than it had room for, or far fewer.
 */
final class StreamTable {
    static final int MAX_STREAMS = 4_096;

    private static final int[] EMPTY = {};
    private static final int SMALLEST = 4;
    /** A larger array is given back as streams end. */
    private static final int KEPT = 256;

    private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L;

    // The low two bits of a slot; the others are the id without its own low bit, which the state tells: only what the
    // endpoint opens is even (RFC 9113 section 5.1.1), and of that the client's side is ended from the start. No slot
    // in use
    // is 0, as there is no stream 0.
    private static final int PUSHED = 0;
    private static final int BOTH_OPEN = 1;
    private static final int CLIENT_ENDED = 2;
    private static final int ENDPOINT_ENDED = 3;
    private static final int STATE_BITS = 2;
    private static final int STATE_MASK = 3;

    /** What {@link #size} is from the first stream on that there was no room for. */
    private static final int LOST_COUNT = -1;

    /** Keeps a client from choosing ids that all fall on one slot. */
    private final int salt;

    private int[] slots = EMPTY;
    private int size;

    StreamTable(int salt) {
        this.salt = salt;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** How many are open; negative if count is lost. */
    int size() {
        return size;
    }

    int bytes() {
        return slots.length * Integer.BYTES;
    }

    int salt() {
        return salt;
    }

    /**
     * A stream is open; without effect if it is already, or if count is lost.
     *
     * @param id of the stream, odd if the client has opened it, even if the endpoint has promised it
     */
    void open(int id) {
        if (size == LOST_COUNT || find(id) >= 0) {
            return;
        }
        if (size == MAX_STREAMS) {
            size = LOST_COUNT;
            slots = EMPTY;
            return;
        }
        if ((size + 1) * 4 > slots.length * 3) {
            rebuild(Math.max(SMALLEST, slots.length + slots.length / 2), FrameWalker.MAX_ID);
        }
        put(((id >>> 1) << STATE_BITS) | ((id & 1) == 0 ? PUSHED : BOTH_OPEN));
    }

    /** A side has ended its half of a stream. Without effect on one that is not open. */
    void ended(int id, Side by) {
        int at = find(id);
        if (at >= 0) {
            int state = slots[at] & STATE_MASK;
            int byThis = by == Side.DOWNSTREAM ? CLIENT_ENDED : ENDPOINT_ENDED;
            if (state == BOTH_OPEN) {
                slots[at] = (slots[at] & ~STATE_MASK) | byThis;
            } else if (state == PUSHED ? by == Side.UPSTREAM : state != byThis) {
                removeAt(at);
            }
        }
    }

    /** A side has reset a stream: neither says anything more that counts. */
    void reset(int id) {
        int at = find(id);
        if (at >= 0) {
            removeAt(at);
        }
    }

    /** The endpoint does not take the client's streams above this id: they are no longer open. */
    void refuseAbove(int lastId) {
        for (int slot : slots) {
            if (slot != 0 && isRefused(idOf(slot), lastId)) {
                rebuild(slots.length, lastId);
                return;
            }
        }
    }

    private static boolean isRefused(int id, int lastId) {
        return (id & 1) != 0 && id > lastId;
    }

    private void rebuild(int length, int lastId) {
        int[] before = slots;
        slots = new int[length];
        size = 0;
        for (int slot : before) {
            if (slot != 0 && !isRefused(idOf(slot), lastId)) {
                put(slot);
            }
        }
    }

    private void put(int slot) {
        int at = home(idOf(slot));
        while (slots[at] != 0) {
            at = after(at);
        }
        slots[at] = slot;
        size++;
    }

    private int find(int id) {
        if (size <= 0) {
            return -1;
        }
        for (int at = home(id); slots[at] != 0; at = after(at)) {
            if (idOf(slots[at]) == id) {
                return at;
            }
        }
        return -1;
    }

    /** Closes the gap by moving back whatever was put behind its home because of it, so that no tombstone is needed. */
    private void removeAt(int index) {
        size--;
        if (size == 0 && slots.length > KEPT) {
            slots = EMPTY;
            return;
        }
        int gap = index;
        for (int at = after(gap); slots[at] != 0; at = after(at)) {
            if (distance(home(idOf(slots[at])), at) >= distance(gap, at)) {
                slots[gap] = slots[at];
                gap = at;
            }
        }
        slots[gap] = 0;
        if (slots.length > KEPT && size * 4 < slots.length) {
            rebuild(Math.max(KEPT, slots.length / 2), FrameWalker.MAX_ID);
        }
    }

    private static int idOf(int slot) {
        int even = (slot >>> STATE_BITS) << 1;
        return (slot & STATE_MASK) == PUSHED ? even : even | 1;
    }

    private int home(int id) {
        long mixed = (id ^ salt) * GOLDEN_RATIO;
        mixed = (mixed ^ (mixed >>> 32)) * GOLDEN_RATIO;
        return (int) (((mixed >>> 32) * slots.length) >>> 32);
    }

    private int after(int at) {
        return at + 1 == slots.length ? 0 : at + 1;
    }

    private int distance(int from, int to) {
        return from <= to ? to - from : to - from + slots.length;
    }

    @Override
    public String toString() {
        return size == LOST_COUNT ? "more than " + MAX_STREAMS + " open streams" : size + " open streams";
    }
}
