package dev.tidegate.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a connection reaches its limits. */
final class LifetimeTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long DAY = 86_400 * SECOND;
    private static final long SEED = 20_261_130;

    private static Lifetime ofAge(long maxAgeNanos, double jitter) {
        return new Lifetime(
                maxAgeNanos, jitter, Lifetime.UNLIMITED, Lifetime.UNLIMITED, 300 * SECOND, 5 * SECOND, 2 * SECOND);
    }

    @Test
    void softLimitIsAgeAfterAcceptWithoutJitter() {
        Lifetime lifetime = ofAge(10 * SECOND, 0);
        assertEquals(17 * SECOND, lifetime.softNanos(7 * SECOND, -1));
        assertEquals(17 * SECOND, lifetime.softNanos(7 * SECOND, 0.99));
    }

    @Test
    void jitterMovesTheLimitBothWaysByItsShare() {
        Lifetime lifetime = ofAge(10 * SECOND, 0.2);
        assertEquals(8 * SECOND, lifetime.softAgeNanos(-1));
        assertEquals(10 * SECOND, lifetime.softAgeNanos(0));
        assertEquals(11 * SECOND, lifetime.softAgeNanos(0.5));
    }

    @Test
    void softLimitNeverFallsBelowATwentiethOfMaxAge() {
        Lifetime lifetime = ofAge(10 * SECOND, 1);
        assertEquals(SECOND / 2, lifetime.softAgeNanos(-1));
        assertEquals(SECOND / 2, lifetime.softAgeNanos(-0.96));
        assertEquals(SECOND, lifetime.softAgeNanos(-0.9));
        assertEquals(1, ofAge(1, 1).softAgeNanos(-1));
    }

    @Test
    void everyDrawFallsWithinItsBounds() {
        Random random = new Random(SEED);
        Lifetime lifetime = ofAge(10 * SECOND, 0.2);
        long lower = 0;
        for (int i = 0; i < 100_000; i++) {
            long soft = lifetime.softAgeNanos(2 * random.nextDouble() - 1);
            assertTrue(soft >= 8 * SECOND && soft <= 12 * SECOND, "seed " + SEED + ": " + soft);
            lower += soft < 10 * SECOND ? 1 : 0;
        }
        assertTrue(Math.abs(lower - 50_000) < 1_000, "seed " + SEED + ": " + lower);
    }

    @Test
    void withoutAMaxAgeThereIsNoLimitAndNoHardLimit() {
        assertFalse(Lifetime.DEFAULT.limitsAge());
        assertFalse(Lifetime.DEFAULT.limitsRequests());
        assertFalse(Lifetime.DEFAULT.limitsBytes());
        assertEquals(Lifetime.UNLIMITED, Lifetime.DEFAULT.softAgeNanos(0.5));
        assertEquals(Lifetime.UNLIMITED, Lifetime.DEFAULT.softNanos(-5, 0.5));
        assertEquals(Lifetime.UNLIMITED, Lifetime.DEFAULT.hardNanos(Lifetime.UNLIMITED));
    }

    /** A ticker's time may be anything, and may wrap while the process runs. */
    @ParameterizedTest
    @ValueSource(longs = {0, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE - 5 * SECOND, -1, 1})
    void limitsCompareRightlyWhateverTheTickersTimeIs(long acceptedNanos) {
        for (long age : new long[] {1, SECOND, 365 * DAY, Long.MAX_VALUE / 4}) {
            Lifetime lifetime = ofAge(age, 1);
            for (double draw : new double[] {-1, -0.3, 0, 0.999_999}) {
                long soft = lifetime.softNanos(acceptedNanos, draw);
                long hard = lifetime.hardNanos(soft);
                assertTrue(soft - acceptedNanos >= 0, age + " " + draw);
                assertTrue(hard - soft >= 300 * SECOND - 1, age + " " + draw);
            }
        }
    }

    @Test
    void aTimeIsNeverTakenForNoLimitByAccident() {
        Lifetime lifetime = ofAge(10, 0);
        assertEquals(Long.MAX_VALUE - 1, lifetime.softNanos(Long.MAX_VALUE - 10, 0));
        assertEquals(Long.MAX_VALUE - 1, lifetime.hardNanos(Long.MAX_VALUE - 300 * SECOND));
    }

    @Test
    void whatCouldNotWorkCannotBeMade() {
        long none = Lifetime.UNLIMITED;
        assertRefused("maxAgeNanos 0", () -> new Lifetime(0, 0, none, none, 0, 1, 0));
        assertRefused("maxAgeNanos " + (none - 1), () -> new Lifetime(none - 1, 0, none, none, 0, 1, 0));
        assertRefused("jitter -0.1", () -> new Lifetime(none, -0.1, none, none, 0, 1, 0));
        assertRefused("jitter 1.1", () -> new Lifetime(none, 1.1, none, none, 0, 1, 0));
        assertRefused("jitter NaN", () -> new Lifetime(none, Double.NaN, none, none, 0, 1, 0));
        assertRefused("maxRequests 0", () -> new Lifetime(none, 0, 0, none, 0, 1, 0));
        assertRefused("maxBytes -1", () -> new Lifetime(none, 0, none, -1, 0, 1, 0));
        assertRefused("graceNanos -1", () -> new Lifetime(none, 0, none, none, -1, 1, 0));
        assertRefused("graceNanos " + none, () -> new Lifetime(none, 0, none, none, none, 1, 0));
        assertRefused("quietNanos 0", () -> new Lifetime(none, 0, none, none, 0, 0, 0));
        assertRefused("lingerNanos -1", () -> new Lifetime(none, 0, none, none, 0, 1, -1));
    }

    private static void assertRefused(String expected, Runnable made) {
        String message = assertThrows(IllegalArgumentException.class, made::run).getMessage();
        assertEquals(expected + " is out of range", message);
    }
}
