package dev.tidegate.admin;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Where the text of metrics is made: for thousands of endpoints it takes a second, in which probes are to be answered. All who
 * ask while one is being made share the next, so that nobody's asking takes another's turn.
 *
 * <p>Its thread, {@code tidegate-scrape}, is there while there is something to do. Any thread.
 */
final class Scrapes implements AutoCloseable {
    private static final long IDLE_SECONDS = 30;

    private static final int FIRST_BYTES = 64 * 1024;

    private final ProxyOperations operations;
    private final ThreadPoolExecutor maker =
            new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Scrapes::thread);
    /** Those that are not begun. */
    private final Map<MetricsFormat, CompletableFuture<Answer>> next = new EnumMap<>(MetricsFormat.class);

    Scrapes(ProxyOperations operations) {
        this.operations = operations;
        maker.allowCoreThreadTimeOut(true);
    }

    /** One that is begun from now on. */
    synchronized CompletionStage<Answer> ask(MetricsFormat format) {
        return next.computeIfAbsent(format, missing -> CompletableFuture.supplyAsync(() -> made(format), maker));
    }

    private Answer made(MetricsFormat format) {
        begin(format);
        ByteArrayOutputStream out = new ByteArrayOutputStream(FIRST_BYTES);
        try {
            operations.writeMetrics(format, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Answer.ok(format.contentType(), out.toByteArray());
    }

    private synchronized void begin(MetricsFormat format) {
        next.remove(format);
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
