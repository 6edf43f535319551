package dev.tidegate.testkit;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Waits for a condition, with a bound; the failure names what was awaited.
 *
 * <pre>{@code
 * Await.until("the endpoint is ejected", () -> cell.ejected());
 * Await.equal("in-flight", 0, cell::inFlight);
 * }</pre>
 *
 * <p>Conditions run on the calling thread, every 2 ms; one that takes its time, such as a program that is run, after twice that
 * time, lest it takes a processor from what is waited for.
 */
public final class Await {
    /** How long is waited when nothing else is said. */
    public static final Duration BOUND = Duration.ofSeconds(10);

    private static final Duration POLL = Duration.ofMillis(2);
    private static final Duration POLL_MAX = Duration.ofMillis(100);

    private Await() {}

    /** Waits up to {@link #BOUND}. */
    public static void until(String what, BooleanSupplier holds) {
        until(what, BOUND, holds);
    }

    /** Waits up to {@code bound}; an {@link AssertionError} that names {@code what} when it does not come true. */
    public static void until(String what, Duration bound, BooleanSupplier holds) {
        if (!tryUntil(bound, holds)) {
            throw new AssertionError("still not so after " + words(bound) + ": " + what);
        }
    }

    /** Waits up to {@link #BOUND} until {@code actual} gives {@code expected}; the failure tells the last value seen. */
    public static <T> void equal(String what, T expected, Supplier<? extends T> actual) {
        if (!tryUntil(BOUND, () -> Objects.equals(expected, actual.get()))) {
            throw new AssertionError(
                    what + ": expected " + expected + ", still " + actual.get() + " after " + words(BOUND));
        }
    }

    /** Waits up to {@code bound} and says whether the condition came true. */
    public static boolean tryUntil(Duration bound, BooleanSupplier holds) {
        AtomicLong tookNanos = new AtomicLong();
        try {
            Awaitility.await()
                    .pollInSameThread()
                    .pollDelay(Duration.ZERO)
                    .pollInterval((count, before) -> pause(tookNanos.get()))
                    .atMost(bound)
                    .until(() -> {
                        long begin = System.nanoTime();
                        boolean held = holds.getAsBoolean();
                        tookNanos.set(System.nanoTime() - begin);
                        return held;
                    });
            return true;
        } catch (ConditionTimeoutException e) {
            return false;
        }
    }

    private static Duration pause(long tookNanos) {
        return Duration.ofNanos(Math.max(POLL.toNanos(), Math.min(POLL_MAX.toNanos(), 2 * tookNanos)));
    }

    /** A duration as a message tells it: {@code 5 s}, {@code 50 ms}. */
    public static String words(Duration bound) {
        return bound.toMillis() % 1000 == 0 ? bound.toSeconds() + " s" : bound.toMillis() + " ms";
    }
}
