package dev.tidegate.dial;

import dev.tidegate.model.Retries;
import java.util.Arrays;

/**
 * How many attempts after a connection's first all connections of a backend may make together: a share of the new
 * connections, and a few in any second besides, for a backend that has little to do. So a backend that has died is met by
 * little more than what clients ask for, and not by several times that, in any second of it.
 *
 * <p>A bucket: a new connection puts its share in, and a retry takes one out, once the present second's minimum is spent. It
 * holds no more than the share of the busiest second among the last ten: enough for connects that fail seconds after they
 * began, and not what all the time has left in which nothing failed. The idea of a budget of retries as a share of requests,
 * with a minimum and a window of seconds, is Finagle's ({@code RetryBudget}).
 *
 * <p>Any thread; a short lock, once a connection and once a retry.
 */
public final class RetryBudget implements Retries {
    private static final int SECONDS = 10;
    private static final long SECOND = 1_000_000_000L;
    /** One retry, in what the bucket is measured in. */
    private static final int RETRY = 100;

    private final int ratioPercent;
    private final int minPerSecond;
    private final long originNanos;
    private final long[] arrived = new long[SECONDS]; // guarded by this, as is all below
    private long busiest; // of these
    private long saved; // hundredths of retries
    private long second;
    private int paidByMinimum;

    /**
     * @param ratioPercent of new connections, in percent
     * @param minPerSecond allowed in any second
     * @param nowNanos the time now
     */
    public RetryBudget(int ratioPercent, int minPerSecond, long nowNanos) {
        this.ratioPercent = ratioPercent;
        this.minPerSecond = minPerSecond;
        this.originNanos = nowNanos;
    }

    @Override
    public synchronized void onConnection(long nowNanos) {
        turnTo(nowNanos);
        busiest = Math.max(busiest, ++arrived[at(second)]);
        saved = Math.min(saved + ratioPercent, mostSaved());
    }

    @Override
    public synchronized boolean tryRetry(long nowNanos) {
        turnTo(nowNanos);
        if (paidByMinimum < minPerSecond) {
            paidByMinimum++;
            return true;
        }
        if (saved < RETRY) {
            return false;
        }
        saved -= RETRY;
        return true;
    }

    /** However few connections there are, some of them make a whole retry together. */
    private long mostSaved() {
        return busiest == 0 ? 0 : Math.max(RETRY, busiest * ratioPercent);
    }

    /** Time of one worker may be a moment behind that of another: it never turns back. */
    private void turnTo(long nowNanos) {
        long now = Math.floorDiv(nowNanos - originNanos, SECOND);
        if (now <= second) {
            return;
        }
        if (now - second >= SECONDS) {
            Arrays.fill(arrived, 0);
        } else {
            for (long passed = second + 1; passed <= now; passed++) {
                arrived[at(passed)] = 0;
            }
        }
        second = now;
        paidByMinimum = 0;
        busiest = Arrays.stream(arrived).max().orElse(0);
        saved = Math.min(saved, mostSaved());
    }

    private static int at(long second) {
        return (int) (second % SECONDS);
    }
}
