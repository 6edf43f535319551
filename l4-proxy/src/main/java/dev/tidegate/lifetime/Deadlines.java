package dev.tidegate.lifetime;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * A worker's deadlines, all on one hashed wheel. Arming and cancelling are O(1) and make no object, and what is due fires
 * at most one tick late while the loop turns.
 *
 * <p>The entries of a tick are a list through arrays that all ticks share, so that memory follows the number armed and not
 * how they fall: thousands of connections that came in one tick have their deadlines in one tick too. (A wheel that gives
 * every tick the places that its fullest one needs, as Agrona's does, takes half a gigabyte for 20,000 in one tick.)
 *
 * <p>Confined to its worker's loop. The loop calls {@link #advance} about once a tick while {@link #isEmpty()} is false.
 *
 * <p>Algorithm: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), scheme 6.
 */
public final class Deadlines {
    /** What {@link #arm} never answers. */
    public static final long UNARMED = Long.MAX_VALUE;

    /** The wheel's resolution, a power of two: 16.8 ms. */
    public static final long TICK_NANOS = 1L << 24;

    private static final int TICK_BITS = Long.numberOfTrailingZeros(TICK_NANOS);
    private static final int SPOKES = 2048;
    private static final int INITIAL_ENTRIES = 64;
    /** So that one turn after a long stall does not hold the loop: the rest follows in the next turn. */
    private static final int MAX_EXPIRED_PER_ADVANCE = 4096;

    private static final int NONE = -1;
    private static final int USES_MASK = Integer.MAX_VALUE;

    private final LongSupplier onFirst;
    private final long startNanos;
    private final int[] firsts = new int[SPOKES];
    private final int[] lasts = new int[SPOKES];
    private Expirable[] expirables = {};
    private long[] deadlines = {};
    private int[] nexts = {}; // of a free entry: the next free one
    private int[] previouses = {};
    private int[] uses = {}; // part of the handle, so that an old one cancels nobody else
    private int free = NONE;
    private int size;
    private long tick; // all ticks before it are done with
    private int cursor = NONE; // the entry to be looked at next, while advancing
    private long nowNanos;

    /**
     * @param startNanos the ticker's time now
     * @param onFirst called when something is armed while nothing was: time to begin calling {@link #advance}. Answers the
     *     ticker's time now
     */
    public Deadlines(long startNanos, LongSupplier onFirst) {
        this.onFirst = onFirst;
        this.startNanos = startNanos;
        this.nowNanos = startNanos;
        Arrays.fill(firsts, NONE);
        Arrays.fill(lasts, NONE);
    }

    /** Whether nothing is armed. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** How many are armed. */
    public int size() {
        return size;
    }

    /**
     * Arms a deadline.
     *
     * @param deadlineNanos when, in the ticker's time; what is past fires at the next chance
     * @param expirable what to wake
     * @return a handle to cancel it by; void once it has fired, and never {@link #UNARMED}
     */
    public long arm(long deadlineNanos, Expirable expirable) {
        if (size == 0) {
            nowNanos = onFirst.getAsLong();
            // While nothing was armed nobody turned the wheel: it need not be turned through all that time now.
            tick = tickOf(nowNanos);
        }
        int entry = takeFree();
        expirables[entry] = expirable;
        // Never on a tick that is done with, or it would wait for a whole turn.
        deadlines[entry] = deadlineNanos - nowNanos < 0 ? nowNanos : deadlineNanos;
        append(entry);
        size++;
        return ((long) uses[entry] << Integer.SIZE) | entry;
    }

    /** Cancels what {@link #arm} answered. Of a handle that is void this does nothing. */
    public void cancel(long handle) {
        int entry = (int) handle;
        if (entry >= 0
                && entry < expirables.length
                && uses[entry] == (int) (handle >>> Integer.SIZE)
                && expirables[entry] != null) {
            remove(entry);
        }
    }

    /**
     * Fires what is due.
     *
     * @param now the ticker's time
     */
    public void advance(long now) {
        nowNanos = now;
        long last = tickOf(now);
        // Within one turn every entry is met, however long the stall was.
        tick = Math.max(tick, last - SPOKES + 1);
        int expired = 0;
        while (size > 0) {
            cursor = firsts[spokeOf(tick)];
            while (cursor != NONE) {
                int entry = cursor;
                cursor = nexts[entry];
                if (now - deadlines[entry] >= 0) {
                    if (expired++ == MAX_EXPIRED_PER_ADVANCE) {
                        return;
                    }
                    Expirable due = expirables[entry];
                    remove(entry);
                    due.onDeadline(now);
                }
            }
            if (tick >= last) {
                return; // what is left of this tick is met again
            }
            tick++;
        }
    }

    private long tickOf(long nanos) {
        return (nanos - startNanos) >> TICK_BITS;
    }

    private static int spokeOf(long tick) {
        return (int) tick & (SPOKES - 1);
    }

    private void append(int entry) {
        int spoke = spokeOf(tickOf(deadlines[entry]));
        int last = lasts[spoke];
        nexts[entry] = NONE;
        previouses[entry] = last;
        lasts[spoke] = entry;
        if (last == NONE) {
            firsts[spoke] = entry;
        } else {
            nexts[last] = entry;
        }
    }

    private void remove(int entry) {
        int spoke = spokeOf(tickOf(deadlines[entry]));
        int next = nexts[entry];
        int previous = previouses[entry];
        if (previous == NONE) {
            firsts[spoke] = next;
        } else {
            nexts[previous] = next;
        }
        if (next == NONE) {
            lasts[spoke] = previous;
        } else {
            previouses[next] = previous;
        }
        if (cursor == entry) {
            cursor = next;
        }
        expirables[entry] = null;
        uses[entry] = (uses[entry] + 1) & USES_MASK;
        nexts[entry] = free;
        free = entry;
        size--;
    }

    private int takeFree() {
        if (free == NONE) {
            grow();
        }
        int entry = free;
        free = nexts[entry];
        return entry;
    }

    private void grow() {
        int before = expirables.length;
        int after = Math.max(INITIAL_ENTRIES, 2 * before);
        expirables = Arrays.copyOf(expirables, after);
        deadlines = Arrays.copyOf(deadlines, after);
        nexts = Arrays.copyOf(nexts, after);
        previouses = Arrays.copyOf(previouses, after);
        uses = Arrays.copyOf(uses, after);
        for (int entry = after - 1; entry >= before; entry--) {
            nexts[entry] = free;
            free = entry;
        }
    }
}
