package dev.tidegate.lifetime;

import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * A worker's deadlines, all on one hashed wheel. An entry costs no object of its own beyond the map's, arming and
 * cancelling are O(1), and what is due fires at most one tick late while the loop turns.
 *
 * <p>Confined to its worker's loop. The loop calls {@link #advance} about once a tick while {@link #isEmpty()} is false.
 *
 * <p>Algorithm: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), scheme 6, as Agrona has it.
 */
public final class Deadlines implements DeadlineTimerWheel.TimerHandler {
    /** What {@link #arm} never answers. */
    public static final long UNARMED = DeadlineTimerWheel.NULL_DEADLINE;

    /** The wheel's resolution, a power of two: 16.8 ms. */
    public static final long TICK_NANOS = 1L << 24;

    private static final int TICKS_PER_WHEEL = 2048;
    private static final int INITIAL_PER_TICK = 4;
    /** So that one poll after a long stall does not hold the loop: the rest follows in the next turn. */
    private static final int MAX_EXPIRED_PER_ADVANCE = 4096;

    private final DeadlineTimerWheel wheel;
    private final Long2ObjectHashMap<Expirable> armed = new Long2ObjectHashMap<>();
    private final Runnable onFirst;
    private long nowNanos;

    /**
     * @param startNanos the ticker's time now
     * @param onFirst called when something is armed while nothing was: time to begin calling {@link #advance}
     */
    public Deadlines(long startNanos, Runnable onFirst) {
        this.onFirst = onFirst;
        wheel = new DeadlineTimerWheel(TimeUnit.NANOSECONDS, startNanos, TICK_NANOS, TICKS_PER_WHEEL, INITIAL_PER_TICK);
        nowNanos = startNanos;
    }

    /** Whether nothing is armed. */
    public boolean isEmpty() {
        return wheel.timerCount() == 0;
    }

    /** How many are armed. */
    public int size() {
        return (int) wheel.timerCount();
    }

    /**
     * Arms a deadline.
     *
     * @param deadlineNanos when, in the ticker's time
     * @param expirable what to wake
     * @return a handle to cancel it by; void once it has fired, and never {@link #UNARMED}
     */
    public long arm(long deadlineNanos, Expirable expirable) {
        if (wheel.timerCount() == 0) {
            onFirst.run();
        }
        long id = wheel.scheduleTimer(deadlineNanos);
        armed.put(id, expirable);
        return id;
    }

    /** Cancels what {@link #arm} answered. The holder must forget the handle: ids are used again. */
    public void cancel(long handle) {
        if (wheel.cancelTimer(handle)) {
            armed.remove(handle);
        }
    }

    /**
     * Fires what is due.
     *
     * @param now the ticker's time
     */
    public void advance(long now) {
        nowNanos = now;
        if (wheel.timerCount() == 0) {
            wheel.currentTickTime(now);
            return;
        }
        int expired = 0;
        // One poll turns the wheel by one tick at most: loop until it has caught up.
        do {
            expired += wheel.poll(now, this, MAX_EXPIRED_PER_ADVANCE);
        } while (wheel.currentTickTime() - now <= 0 && expired < MAX_EXPIRED_PER_ADVANCE && wheel.timerCount() > 0);
    }

    @Override
    public boolean onTimerExpiry(TimeUnit unit, long now, long timerId) {
        armed.remove(timerId).onDeadline(nowNanos);
        return true;
    }
}
