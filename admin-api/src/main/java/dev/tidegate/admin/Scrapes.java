package dev.tidegate.admin;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Where the text of metrics is made: for thousands of endpoints it takes a second, in which probes are to be answered.
 *
 * <p>Its thread, {@code tidegate-scrape}, is there while there is something to do. Any thread.
 */
final class Scrapes implements AutoCloseable {
    /** How many may wait for one that is being made. */
    static final int WAITING_MAX = 8;

    private static final long IDLE_SECONDS = 30;

    private final ThreadPoolExecutor maker = new ThreadPoolExecutor(
            1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(WAITING_MAX), Scrapes::thread);

    Scrapes() {
        maker.allowCoreThreadTimeOut(true);
    }

    /**
     * Has an answer made there.
     *
     * @throws RejectedExecutionException when as many wait as may, or after the end
     */
    CompletionStage<Answer> make(Supplier<Answer> answer) {
        return CompletableFuture.supplyAsync(answer, maker);
    }

    /** Ends the thread; those that wait are never answered. */
    @Override
    public void close() {
        maker.shutdownNow();
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "tidegate-scrape");
        thread.setDaemon(true);
        return thread;
    }
}
