package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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

    @Test
    void whoIsRefusedTogetherDoesNotComeBackTogether() {
        int[] rests =
                IntStream.generate(limiter::restMillis).limit(200).sorted().toArray();

        assertArrayEquals(IntStream.range(150, 350).toArray(), rests);
        for (int i = 0; i < 20; i++) {
            rests[i] = limiter.restMillis();
        }
        int[] twenty = IntStream.of(rests).limit(20).sorted().toArray();
        for (int i = 1; i < twenty.length; i++) {
            assertTrue(twenty[i] - twenty[i - 1] >= 5, Arrays.toString(twenty));
        }
    }
}
