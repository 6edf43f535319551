package dev.tidegate.dial;

import dev.tidegate.model.Retries;
import java.util.Arrays;

/**
 * How many attempts after a connection's first all connections of a backend may make together: a share of the new
 * connections of the last ten seconds, and a few in any second besides, for a backend that has little to do. So a backend
 * that has died is met by little more than what clients ask for, and not by several times that.
 *
 * <p>A ring of seconds: a retry is paid by the present second's minimum while that lasts, and then by the share. The idea of
 * a budget of retries as a share of requests, with a minimum and a window of seconds, is Finagle's ({@code RetryBudget}).
 *
 * <p>Any thread; a short lock, once a connection and once a retry.
 */
public final class RetryBudget implements Retries {
    private static final int SECONDS = 10;
    private static final long SECOND = 1_000_000_000L;

    private final int ratioPercent;
    private final int minPerSecond;
    private final long originNanos;
    private final long[] arrived = new long[SECONDS]; // guarded by this, as is all below
    private final long[] paidByShare = new long[SECONDS];
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
        arrived[at(second)]++;
    }

    @Override
    public synchronized boolean tryRetry(long nowNanos) {
        turnTo(nowNanos);
        if (paidByMinimum < minPerSecond) {
            paidByMinimum++;
            return true;
        }
        if ((sum(paidByShare) + 1) * 100 > sum(arrived) * ratioPercent) {
            return false;
        }
        paidByShare[at(second)]++;
        return true;
    }

    /** Time of one worker may be a moment behind that of another: it never turns back. */
    private void turnTo(long nowNanos) {
        long now = Math.floorDiv(nowNanos - originNanos, SECOND);
        if (now <= second) {
            return;
        }
        if (now - second >= SECONDS) {
            Arrays.fill(arrived, 0);
            Arrays.fill(paidByShare, 0);
        } else {
            for (long passed = second + 1; passed <= now; passed++) {
                arrived[at(passed)] = 0;
                paidByShare[at(passed)] = 0;
            }
        }
        second = now;
        paidByMinimum = 0;
    }

    private static int at(long second) {
        return (int) (second % SECONDS);
    }

    private static long sum(long[] counts) {
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        return sum;
    }
}
