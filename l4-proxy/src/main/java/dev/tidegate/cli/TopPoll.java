package dev.tidegate.cli;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Asks a process for its state once a second, on a thread of its own, so that keys never wait for an answer. */
final class TopPoll implements AutoCloseable {
    private static final long EVERY_MILLIS = 1_000;
    /** An answer may take so long without a word. */
    private static final long WAIT_UNSAID_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final AdminClient client;
    private final Semaphore hurry = new Semaphore(0);
    private final CountDownLatch first = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "tidegate-top-poll");
    private volatile Optional<TopSample.Pair> latest = Optional.empty(); // writer: its thread
    private volatile Exception trouble; // writer: its thread; null when all is well
    private volatile OptionalLong askedNanos = OptionalLong.empty(); // writer: its thread; empty between two questions
    private volatile boolean withConnections; // writer: whoever reads the keys
    private volatile boolean closed; // writer: whoever closes

    TopPoll(AdminClient client) {
        this.client = client;
        thread.setDaemon(true);
    }

    /** Asks at once, and then once a second. */
    TopPoll start() {
        thread.start();
        return this;
    }

    /** Waits until the first question has been answered or has failed, but no longer than that. */
    void awaitFirst(long millis) throws InterruptedException, UnreachableException, RefusedException {
        if (first.await(millis, TimeUnit.MILLISECONDS)) {
            failIfNeverAnswered();
        }
    }

    /** Throws why there is nothing to show, and will be nothing. */
    void failIfNeverAnswered() throws UnreachableException, RefusedException {
        Exception why = trouble;
        if (latest.isPresent()) {
            return;
        }
        if (why instanceof UnreachableException unreachable) {
            throw unreachable;
        } else if (why instanceof RefusedException refused) {
            throw refused;
        }
    }

    /** The last two answers; empty while there is none. */
    Optional<TopSample.Pair> latest() {
        return latest;
    }

    /** Why there is nothing newer, and how old that is which there is; empty when all is well. */
    String trouble() {
        Exception failed = trouble;
        long now = System.nanoTime();
        OptionalLong asked = askedNanos;
        OptionalLong waitedNanos = asked.isPresent() ? OptionalLong.of(now - asked.getAsLong()) : OptionalLong.empty();
        return words(
                client.address(),
                failed == null ? "" : failed.getMessage(),
                waitedNanos,
                latest.isPresent() ? OptionalLong.of(now - latest.get().now().nanos()) : OptionalLong.empty());
    }

    /**
     * The same, of what is known.
     *
     * @param failure of the last question; empty when it was answered
     * @param waitedNanos for the answer to the question under way
     * @param ageNanos of the last answer
     */
    static String words(ApiAddress address, String failure, OptionalLong waitedNanos, OptionalLong ageNanos) {
        boolean silent = waitedNanos.isPresent() && waitedNanos.getAsLong() >= WAIT_UNSAID_NANOS;
        String why = silent ? "no answer for " + age(waitedNanos.getAsLong()) + " from " + address : failure;
        if (ageNanos.isEmpty()) {
            return why.isEmpty() ? "waiting for " + address : why;
        }
        return why.isEmpty() ? "" : "as of " + age(ageNanos.getAsLong()) + " ago: " + why;
    }

    private static String age(long nanos) {
        return Words.age(TimeUnit.NANOSECONDS.toMillis(nanos));
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
            ask(false);
            first.countDown();
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
        askedNanos = OptionalLong.of(System.nanoTime());
        try {
            TopSample now = TopSample.ask(client, withConnections);
            TopSample.Pair pair = latest.orElse(new TopSample.Pair(now, now));
            // Rates over the little time since the last answer would jump about.
            latest = Optional.of(new TopSample.Pair(hurried ? pair.before() : pair.now(), now));
            trouble = null;
        } catch (UnreachableException | RefusedException e) {
            trouble = e;
        }
        askedNanos = OptionalLong.empty();
    }

    @Override
    public void close() {
        closed = true;
        hurry.release();
    }
}
