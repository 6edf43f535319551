package dev.tidegate.cli;

import dev.tidegate.lifetime.Ticker;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * The moment from which a process that begins is of use. Sockets from systemd have a queue of those who came while nobody
 * served: accepted before the first name server has answered, all of them would be reset for want of an endpoint, and who
 * waits a moment longer is served.
 *
 * <p>Used by the thread that starts the process.
 */
final class FirstCandidates {
    /** Whom nobody can serve by then is reset, as at any other time. */
    static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Supplier<List<String>> without;
    private final BooleanSupplier hopeless;
    private final Ticker ticker;
    private final LongConsumer pause;

    /**
     * @param without the frontends that have no candidate now
     * @param hopeless whether nothing changes by waiting
     * @param ticker monotonic time
     * @param pause waits for so many nanoseconds, or not quite
     */
    FirstCandidates(Supplier<List<String>> without, BooleanSupplier hopeless, Ticker ticker, LongConsumer pause) {
        this.without = without;
        this.hopeless = hopeless;
        this.ticker = ticker;
        this.pause = pause;
    }

    /**
     * Waits until each frontend that listens has a candidate, or nothing changes by waiting, for 2 s at most.
     *
     * @return frontends that have none, though it waited for all of the time
     */
    List<String> await() {
        long begin = ticker.nanoTime();
        List<String> now = without.get();
        while (!now.isEmpty() && !hopeless.getAsBoolean()) {
            if (ticker.nanoTime() - begin >= PATIENCE_NANOS) {
                return now;
            }
            pause.accept(LOOK_NANOS);
            now = without.get();
        }
        return List.of();
    }
}
