package dev.tidegate.dial;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RetryBudgetTest {
    private static final long SECOND = 1_000_000_000L;
    /** Any time may be the origin, also one near the end of what a long holds. */
    private static final long START = Long.MAX_VALUE - 3 * SECOND;

    private long now = START;

    /**
     * Whatever the traffic, attempts are at most (1 + ratio) × arrivals + the minimum of each second. Time stands still,
     * goes on a little or a lot, and now and then a little back, as it does from worker to worker.
     */
    @Property
    void attemptsStayWithinTheBound(
            @ForAll long seed, @ForAll @IntRange(max = 200) int ratio, @ForAll @IntRange(max = 20) int least) {
        RandomGenerator random =
                RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(seed);
        RetryBudget budget = new RetryBudget(ratio, least, START);
        now = START;
        long arrivals = 0;
        long retries = 0;
        long seconds = 1; // begun
        long latest = 0;
        for (int i = 0; i < 2_000; i++) {
            long step = step(random);
            now += step;
            if (now - START > latest) {
                seconds += (now - START) / SECOND - latest / SECOND;
                latest = now - START;
            }
            if (random.nextInt(4) == 0) {
                budget.onConnection(now);
                arrivals++;
            } else if (budget.tryRetry(now)) {
                retries++;
            }
            assertTrue(
                    retries * 100 <= arrivals * ratio + seconds * least * 100,
                    retries + " retries, " + arrivals + " arrivals, " + seconds + " s");
        }
    }

    /** The same over any stretch of time: what it begins with is the share of one second at most. */
    @Property
    void anyStretchOfSecondsStaysWithinTheBoundAndOneSecondsShare(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 200) int ratio, @ForAll @IntRange(max = 20) int least) {
        RandomGenerator random =
                RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(seed);
        RetryBudget budget = new RetryBudget(ratio, least, START);
        int seconds = 40;
        long[] arrivals = new long[seconds];
        long[] retries = new long[seconds];
        for (int second = 0; second < seconds; second++) {
            now = START + second * SECOND;
            int coming = random.nextInt(4) == 0 ? random.nextInt(300) : random.nextInt(10);
            boolean dead = random.nextInt(3) == 0;
            for (int i = 0; i < coming; i++) {
                budget.onConnection(now);
                arrivals[second]++;
                retries[second] += dead ? retriesLeft(budget) : 0;
            }
        }
        for (int first = 0; first < seconds; first++) {
            long came = 0;
            long retried = 0;
            for (int second = first; second < seconds; second++) {
                came += arrivals[second];
                retried += retries[second];
                long most = (came + busiest(arrivals, first)) * ratio + (second - first + 1L) * least * 100 + 100;
                assertTrue(retried * 100 <= most, retried + " retries in seconds " + first + " to " + second);
            }
        }
    }

    private static long busiest(long[] arrivals, int before) {
        return Arrays.stream(arrivals, Math.max(0, before - 10), before).max().orElse(0);
    }

    /** 1,000 new connections a second, for long, and then all of their attempts fail. */
    @Test
    void anOutageBeginsWithNoMoreThanTheSavedShareOfOneSecond() {
        RetryBudget budget = new RetryBudget(20, 10, now);
        for (int second = 0; second < 60; second++) {
            arrive(budget, 1_000);
            now += SECOND;
        }
        for (int second = 0; second < 10; second++) {
            int retries = retriesLeft(budget);
            for (int i = 0; i < 1_000; i++) {
                budget.onConnection(now);
                retries += retriesLeft(budget);
            }
            assertEquals(second == 0 ? 410 : 210, retries, "in second " + second);
            now += SECOND;
        }
    }

    private long step(RandomGenerator random) {
        return switch (random.nextInt(20)) {
            case 0 -> random.nextLong(25 * SECOND);
            case 1, 2 -> random.nextLong(SECOND);
            case 3 -> -Math.min(now - START, random.nextLong(SECOND / 10));
            default -> random.nextLong(SECOND / 50);
        };
    }

    /** The other side of the bound: what is promised is there. */
    @Test
    void theWholeShareMayBeSpent() {
        RetryBudget budget = new RetryBudget(20, 0, now);
        arrive(budget, 1_000);

        assertEquals(200, retriesLeft(budget));
    }

    @Test
    void theMinimumIsThereInEachSecondWithoutAnyConnection() {
        RetryBudget budget = new RetryBudget(20, 10, now);
        for (int second = 0; second < 30; second++) {
            assertEquals(10, retriesLeft(budget), "in second " + second);
            now += SECOND;
        }
    }

    @Test
    void theMinimumComesOnTopOfTheShare() {
        RetryBudget budget = new RetryBudget(50, 10, now);
        arrive(budget, 100);

        assertEquals(60, retriesLeft(budget));
        now += SECOND;
        assertEquals(10, retriesLeft(budget));
    }

    @Test
    void connectionsOfTheLastTenSecondsCount() {
        RetryBudget budget = new RetryBudget(100, 0, now);
        arrive(budget, 5);
        now += 10 * SECOND - 1;
        assertTrue(budget.tryRetry(now));

        now += 1;

        assertFalse(budget.tryRetry(now));
    }

    @Test
    void whatWasSpentIsForgottenNoSoonerThanTheConnectionsThatPaidForIt() {
        RetryBudget budget = new RetryBudget(100, 0, now);
        arrive(budget, 5);
        assertEquals(5, retriesLeft(budget));
        for (int second = 1; second < 25; second++) {
            now += SECOND;
            assertEquals(0, retriesLeft(budget), "in second " + second);
        }
        arrive(budget, 3);

        assertEquals(3, retriesLeft(budget));
    }

    @Test
    void aPartOfARetryIsNone() {
        RetryBudget budget = new RetryBudget(20, 0, now);
        arrive(budget, 4);
        assertFalse(budget.tryRetry(now));

        arrive(budget, 1);

        assertTrue(budget.tryRetry(now));
        assertFalse(budget.tryRetry(now));
    }

    @Test
    void withoutAShareThereIsTheMinimumAlone() {
        RetryBudget budget = new RetryBudget(0, 3, now);
        arrive(budget, 10_000);

        assertEquals(3, retriesLeft(budget));
    }

    @Test
    void withNeitherThereIsNoRetry() {
        RetryBudget budget = new RetryBudget(0, 0, now);
        arrive(budget, 10_000);

        assertEquals(0, retriesLeft(budget));
    }

    /** Time of one worker may be a moment behind that of another. */
    @Test
    void timeThatGoesSlightlyBackBringsNoFurtherMinimum() {
        RetryBudget budget = new RetryBudget(0, 2, now);
        assertEquals(2, retriesLeft(budget));
        now += SECOND;
        assertEquals(2, retriesLeft(budget));

        assertFalse(budget.tryRetry(now - 1));
        assertFalse(budget.tryRetry(now));

        assertFalse(budget.tryRetry(START - 5 * SECOND), "before the origin");
    }

    @Test
    void aLongSilenceEmptiesTheWindow() {
        RetryBudget budget = new RetryBudget(100, 0, now);
        arrive(budget, 100);
        now += 86_400 * SECOND;

        assertEquals(0, retriesLeft(budget));
        arrive(budget, 2);
        assertEquals(2, retriesLeft(budget));
    }

    private void arrive(RetryBudget budget, int connections) {
        for (int i = 0; i < connections; i++) {
            budget.onConnection(now);
        }
    }

    private int retriesLeft(RetryBudget budget) {
        int retries = 0;
        while (budget.tryRetry(now)) {
            retries++;
        }
        return retries;
    }
}
