package dev.tidegate.cli;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Closes something when it is not ended in time: UNIX sockets of the JDK know no time limits, but what waits on one is woken
 * by its close. Any thread.
 */
final class TimeLimit implements AutoCloseable {
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean over; // writer: its thread

    /** Starts the time. */
    TimeLimit(Duration limit, Closeable what) {
        Thread thread = new Thread(() -> watch(limit, what), "tidegate-time-limit");
        thread.setDaemon(true);
        thread.start();
    }

    private void watch(Duration limit, Closeable what) {
        try {
            if (!ended.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                over = true;
                what.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // It is being given up: whoever waits on it is told that the time is over, which says more.
            over = true;
        }
    }

    /** Whether the time has passed before the end. */
    boolean isOver() {
        return over;
    }

    /** Ends it: nothing is closed any more. */
    @Override
    public void close() {
        ended.countDown();
    }
}
