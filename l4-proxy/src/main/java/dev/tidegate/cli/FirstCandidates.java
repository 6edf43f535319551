package dev.tidegate.cli;

import dev.tidegate.lifetime.Ticker;
import java.time.Duration;
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
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Supplier<List<String>> awaiting;
    private final BooleanSupplier enough;
    private final Ticker ticker;
    private final LongConsumer pause;

    /**
     * @param awaiting the frontends that have no candidate now and may get one
     * @param enough whether nobody is to wait any more
     * @param ticker monotonic time
     * @param pause waits for so many nanoseconds, or not quite
     */
    FirstCandidates(Supplier<List<String>> awaiting, BooleanSupplier enough, Ticker ticker, LongConsumer pause) {
        this.awaiting = awaiting;
        this.enough = enough;
        this.ticker = ticker;
        this.pause = pause;
    }

    /**
     * Waits until no frontend has to wait for a candidate.
     *
     * @param patience for so long at most
     * @return frontends that have none, though it waited for all of the time
     */
    List<String> await(Duration patience) {
        long begin = ticker.nanoTime();
        List<String> now = awaiting.get();
        while (!now.isEmpty() && !enough.getAsBoolean()) {
            if (ticker.nanoTime() - begin >= patience.toNanos()) {
                return now;
            }
            pause.accept(LOOK_NANOS);
            now = awaiting.get();
        }
        return List.of();
    }
}
