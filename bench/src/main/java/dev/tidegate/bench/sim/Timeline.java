package dev.tidegate.bench.sim;

import dev.tidegate.lifetime.Ticker;
import java.util.Arrays;

/**
 * Virtual time: what happens is ordered by when, and by who asked first where that is the same, so that a run is the same
 * each time. A heap with four children a node over plain arrays.
 *
 * <p>Confined to one thread.
 */
final class Timeline implements Ticker {
    private static final int CHILDREN = 4;

    private long[] times = new long[64];
    private long[] turns = new long[64];
    private Happening[] whats = new Happening[64];
    private int size;
    private long asked;
    private long happened;
    private long nowNanos;
    private boolean stopped;

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    /** How much has happened. */
    long happened() {
        return happened;
    }

    /** Has it happen then, or now if that is past. It cannot be taken back: what is void by then does nothing. */
    void at(long nanos, Happening what) {
        if (size == times.length) {
            grow();
        }
        put(size++, Math.max(nanos, nowNanos), asked++, what);
    }

    /** Has it happen after that time. */
    void after(long nanos, Happening what) {
        at(nowNanos + nanos, what);
    }

    /** Lets happen what happens until then, that time included, or until {@link #stop}. */
    void runUntil(long nanos) {
        stopped = false;
        while (size > 0 && !stopped && times[0] <= nanos) {
            turn();
        }
        if (!stopped) {
            nowNanos = nanos;
        }
    }

    /** Lets happen what happens, until nothing more does or until {@link #stop}. */
    void run() {
        stopped = false;
        while (size > 0 && !stopped) {
            turn();
        }
    }

    /** Ends the run after what happens now. */
    void stop() {
        stopped = true;
    }

    private void turn() {
        Happening what = whats[0];
        nowNanos = times[0];
        removeFirst();
        happened++;
        what.happen();
    }

    private void put(int from, long time, long turn, Happening what) {
        int place = from;
        while (place > 0) {
            int parent = (place - 1) / CHILDREN;
            if (!isBefore(time, turn, parent)) {
                break;
            }
            move(parent, place);
            place = parent;
        }
        set(place, time, turn, what);
    }

    private void removeFirst() {
        int last = --size;
        long time = times[last];
        long turn = turns[last];
        Happening what = whats[last];
        whats[last] = null;
        if (last == 0) {
            return;
        }
        int place = 0;
        while (true) {
            int least = leastChild(place);
            if (least < 0 || isBefore(time, turn, least)) {
                break;
            }
            move(least, place);
            place = least;
        }
        set(place, time, turn, what);
    }

    private int leastChild(int place) {
        int first = place * CHILDREN + 1;
        if (first >= size) {
            return -1;
        }
        int least = first;
        int end = Math.min(first + CHILDREN, size);
        for (int child = first + 1; child < end; child++) {
            if (isBefore(times[child], turns[child], least)) {
                least = child;
            }
        }
        return least;
    }

    private boolean isBefore(long time, long turn, int place) {
        return time < times[place] || (time == times[place] && turn < turns[place]);
    }

    private void move(int from, int to) {
        set(to, times[from], turns[from], whats[from]);
    }

    private void set(int place, long time, long turn, Happening what) {
        times[place] = time;
        turns[place] = turn;
        whats[place] = what;
    }

    private void grow() {
        int length = 2 * times.length;
        times = Arrays.copyOf(times, length);
        turns = Arrays.copyOf(turns, length);
        whats = Arrays.copyOf(whats, length);
    }
}
