package dev.tidegate.control;

import java.util.ArrayDeque;

/**
 * How fast a count rises: over the last ten seconds or so of those in which it was noted, or since it began.
 *
 * <p>Noted by control, read by any thread.
 */
final class Pace {
    private static final long SECOND = 1_000_000_000L;
    private static final long WINDOW_NANOS = 10 * SECOND;
    /** Noted more often than this, a count is passed over. */
    private static final long STEP_NANOS = SECOND;

    private record Note(long nanos, int count) {}

    private final ArrayDeque<Note> notes = new ArrayDeque<>(); // the oldest first; never empty

    Pace(long beginNanos) {
        notes.add(new Note(beginNanos, 0));
    }

    synchronized void note(int count, long nowNanos) {
        if (nowNanos - notes.getLast().nanos() < STEP_NANOS) {
            return;
        }
        notes.addLast(new Note(nowNanos, count));
        while (nowNanos - notes.getFirst().nanos() > WINDOW_NANOS && notes.size() > 1) {
            notes.removeFirst();
        }
    }

    /** A second, now that it has come to {@code count}. */
    synchronized double perSecond(int count, long nowNanos) {
        Note first = notes.getFirst();
        long nanos = nowNanos - first.nanos();
        return nanos <= 0 ? 0 : Math.max(0, (double) (count - first.count()) * SECOND / nanos);
    }
}
