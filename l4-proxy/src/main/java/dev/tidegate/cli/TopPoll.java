package dev.tidegate.cli;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Asks a process for its state once a second, on a thread of its own, so that keys never wait for an answer. */
final class TopPoll implements AutoCloseable {
    private static final long EVERY_MILLIS = 1_000;

    private final AdminClient client;
    private final Semaphore hurry = new Semaphore(0);
    private final Thread thread = new Thread(this::run, "tidegate-top-poll");
    private volatile TopSample.Pair latest; // writer: its thread
    private volatile String trouble = ""; // writer: its thread
    private volatile boolean withConnections; // writer: whoever reads the keys
    private volatile boolean closed; // writer: whoever closes

    /** @param first what is shown until there is more */
    TopPoll(AdminClient client, TopSample first) {
        this.client = client;
        this.latest = new TopSample.Pair(first, first);
        thread.setDaemon(true);
    }

    TopPoll start() {
        thread.start();
        return this;
    }

    /** The last two answers. */
    TopSample.Pair latest() {
        return latest;
    }

    /** Why there is nothing newer; empty when all is well. */
    String trouble() {
        return trouble;
    }

    /** Whether connections are looked at: they are asked for only then, and at once. */
    void withConnections(boolean wanted) {
        if (wanted && !withConnections) {
            withConnections = true;
            hurry.release();
        }
        withConnections = wanted;
    }

    private void run() {
        try {
            while (!closed) {
                boolean hurried = hurry.tryAcquire(EVERY_MILLIS, TimeUnit.MILLISECONDS);
                if (!closed) {
                    ask(hurried);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the end
        }
    }

    private void ask(boolean hurried) {
        try {
            TopSample now = TopSample.ask(client, withConnections);
            TopSample.Pair pair = latest;
            // Rates over the little time since the last answer would jump about.
            latest = new TopSample.Pair(hurried ? pair.before() : pair.now(), now);
            trouble = "";
        } catch (UnreachableException | RefusedException e) {
            trouble = e.getMessage();
        }
    }

    @Override
    public void close() {
        closed = true;
        hurry.release();
    }
}
