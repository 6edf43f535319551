package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class RateLimiterTest {
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private final RateLimiter limiter = new RateLimiter(50, 3);
    private long now = Long.MAX_VALUE - 5 * MILLI; // nanoTime may wrap

    @Test
    void aBurstPassesAndThenAsManyAsTheRateAllows() {
        for (int i = 0; i < 3; i++) {
            assertEquals(0, limiter.tryTake("a", now));
        }
        assertEquals(20 * MILLI, limiter.tryTake("a", now));

        now += 19 * MILLI;
        assertEquals(MILLI, limiter.tryTake("a", now));

        now += MILLI;
        assertEquals(0, limiter.tryTake("a", now));
        assertEquals(20 * MILLI, limiter.tryTake("a", now));
    }

    @Test
    void aPauseFillsTheBucketAndNoMore() {
        for (int i = 0; i < 3; i++) {
            limiter.tryTake("a", now);
        }

        now += TimeUnit.HOURS.toNanos(1);

        for (int i = 0; i < 3; i++) {
            assertEquals(0, limiter.tryTake("a", now));
        }
        assertEquals(20 * MILLI, limiter.tryTake("a", now));
    }

    @Test
    void eachClientHasABucketOfItsOwn() {
        for (int i = 0; i < 4; i++) {
            limiter.tryTake("a", now);
        }

        assertEquals(0, limiter.tryTake("b", now));
    }
}
