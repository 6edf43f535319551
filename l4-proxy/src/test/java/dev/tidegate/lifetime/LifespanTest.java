package dev.tidegate.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import org.junit.jupiter.api.Test;

class LifespanTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long BORN = -7 * SECOND; // a ticker's time may be anything
    private static final long NONE = Lifetime.UNLIMITED;
    private static final Quiet.Seen ANSWERED = new Quiet.Seen(false, 0, 0);

    private final FrontendCell cell = new FrontendCell("edge", 0);

    private static Lifetime age(long seconds) {
        return limits(seconds * SECOND, NONE, NONE);
    }

    private static Lifetime limits(long maxAge, long maxRequests, long maxBytes) {
        return new Lifetime(maxAge, 0.2, maxRequests, maxBytes, 300 * SECOND, 5 * SECOND, 2 * SECOND);
    }

    private Lifespan born(Lifetime limits, double draw) {
        return new Lifespan(cell, limits, BORN, draw);
    }

    @Test
    void ageRetiresAtTheSoftLimitThatWasDrawnAndEndsAfterTheGrace() {
        Lifespan one = born(age(100), -0.5); // 10 % earlier
        long soft = BORN + 90 * SECOND;

        assertEquals(soft, one.nextNanos(BORN));
        one.lookAtAge(soft - 1);
        assertFalse(one.retiring(soft - 1));
        one.lookAtAge(soft);
        assertTrue(one.retiring(soft));
        assertEquals(CloseReason.MAX_AGE, one.reason(soft));
        assertEquals(soft + 300 * SECOND, one.nextNanos(soft));
        assertFalse(one.atHardLimit(soft + 300 * SECOND - 1));
        assertTrue(one.atHardLimit(soft + 300 * SECOND));
    }

    @Test
    void aLookThatComesLateTakesNothingOffTheGraceNorAddsToIt() {
        Lifespan one = born(age(100), 0);
        one.lookAtAge(BORN + 170 * SECOND);

        assertEquals(BORN + 400 * SECOND, one.nextNanos(BORN + 170 * SECOND));
    }

    @Test
    void withoutLimitsNothingHappens() {
        Lifespan one = born(Lifetime.DEFAULT, 0.3);
        for (int i = 0; i < 100_000; i++) {
            assertFalse(one.addRequest(BORN));
            assertFalse(one.addBytes(Integer.MAX_VALUE, BORN));
        }
        one.lookAtAge(BORN + 1_000_000 * SECOND);

        assertFalse(one.marked());
        assertEquals(100_000, one.requests());
        assertEquals(BORN + Lifespan.NEVER, one.nextNanos(BORN));
    }

    @Test
    void theRequestThatReachesTheLimitRetiresOnce() {
        Lifespan one = born(limits(NONE, 3, NONE), 0);

        assertFalse(one.addRequest(BORN));
        assertFalse(one.addRequest(BORN));
        assertTrue(one.addRequest(BORN + SECOND));
        assertEquals(CloseReason.MAX_REQUESTS, one.reason(BORN + SECOND));
        assertFalse(one.addRequest(BORN + 2 * SECOND), "told once");
        assertEquals(BORN + 301 * SECOND, one.nextNanos(BORN + 2 * SECOND));
        assertEquals(1, cell.ofRequests().remaining());
        one.ended(CloseReason.MAX_REQUESTS, RetireHow.RESPONSE);
        assertEquals(0, cell.ofRequests().remaining());
        assertEquals(1, cell.ofRequests().retired());
    }

    @Test
    void theBytesThatReachTheLimitRetireOnce() {
        Lifespan one = born(limits(NONE, NONE, 1000), 0);

        assertFalse(one.addBytes(999, BORN));
        assertTrue(one.addBytes(1, BORN));
        assertEquals(CloseReason.MAX_BYTES, one.reason(BORN));
        assertFalse(one.addBytes(5000, BORN));
    }

    @Test
    void aLongerLimitLetsOneStayThatTheShorterHadRetired() {
        Lifespan one = born(age(100), 0.5);
        long now = BORN + 120 * SECOND;
        one.lookAtAge(now);
        assertTrue(one.retiring(now));

        one.relimit(age(1000), false, 0.9, now);

        assertFalse(one.marked());
        assertEquals(BORN + 1100 * SECOND, one.nextNanos(now), "the same draw");
        assertEquals(0, cell.ofAge().remaining());
    }

    @Test
    void aShorterLimitCountsFromAcceptAndSpreadsTheOverdue() {
        Lifespan one = born(age(1000), 0);
        long now = BORN + 500 * SECOND;

        one.relimit(age(600), false, 0.5, now);
        assertEquals(BORN + 600 * SECOND, one.nextNanos(now));

        one.relimit(age(100), false, 0.5, now);
        one.lookAtAge(now);
        assertFalse(one.marked());
        assertEquals(now + 75 * SECOND, one.nextNanos(now), "half the grace is 150 s, and the draw one half");
    }

    @Test
    void manyChangesPutNobodyOff() {
        Lifespan one = born(age(1000), 0);
        long now = BORN + 500 * SECOND;
        one.relimit(age(100), false, 0.2, now);
        long first = one.nextNanos(now);
        for (int i = 0; i < 100; i++) {
            now += SECOND / 10;
            one.relimit(age(100 + i), false, 0.9, now);
        }

        assertEquals(first, one.nextNanos(now));
    }

    @Test
    void aGraceThatChangesMovesTheHardLimitOfThoseThatAreRetiring() {
        Lifespan one = born(age(100), 0);
        long now = BORN + 110 * SECOND;
        one.lookAtAge(now);

        one.relimit(new Lifetime(100 * SECOND, 0.2, NONE, NONE, 3600 * SECOND, SECOND, 0), false, 0.5, now);

        assertEquals(BORN + 3700 * SECOND, one.nextNanos(now));
    }

    /** Else one reload would cut all at once that are in the middle of something. */
    @Test
    void aGraceThatIsMadeSoShortThatItIsOverSpreadsTheHardLimits() {
        Lifespan one = born(age(100), 0);
        long now = BORN + 200 * SECOND;
        one.lookAtAge(now);

        one.relimit(grace(50), false, 0.5, now);
        assertFalse(one.atHardLimit(now));
        assertEquals(now + 15 * SECOND, one.nextNanos(now), "half of 30 s");

        one.relimit(grace(40), false, 0.9, now + SECOND);
        assertEquals(now + 15 * SECOND, one.nextNanos(now + SECOND), "many changes put nobody off");

        one.relimit(grace(130), false, 0.9, now + SECOND);
        assertEquals(BORN + 230 * SECOND, one.nextNanos(now + SECOND), "one that is not over holds as it is");
    }

    private static Lifetime grace(long seconds) {
        return new Lifetime(100 * SECOND, 0.2, NONE, NONE, seconds * SECOND, 5 * SECOND, 2 * SECOND);
    }

    @Test
    void requestsAndBytesBeyondALimitThatComesLaterAreSpreadToo() {
        Lifespan one = born(limits(NONE, NONE, NONE), 0);
        for (int i = 0; i < 50; i++) {
            one.addRequest(BORN);
        }
        one.addBytes(1000, BORN);

        one.relimit(limits(NONE, 10, NONE), false, 0.1, BORN);
        assertFalse(one.retiring(BORN));
        assertEquals(BORN + 15 * SECOND, one.nextNanos(BORN));
        assertEquals(CloseReason.MAX_REQUESTS, one.reason(BORN + 15 * SECOND));

        one.relimit(limits(NONE, NONE, 1000), false, 0.2, BORN);
        assertNull(one.reason(BORN + 15 * SECOND));
        assertEquals(CloseReason.MAX_BYTES, one.reason(BORN + 30 * SECOND));
    }

    @Test
    void aClientThatKnowsIsNotAskedBack() {
        Lifespan one = born(age(100), 0);
        long now = BORN + 110 * SECOND;
        one.lookAtAge(now);

        one.relimit(age(1000), true, 0.5, now);

        assertTrue(one.retiring(now));
        assertEquals(BORN + 400 * SECOND, one.nextNanos(now));
    }

    @Test
    void otherSettingsAloneMoveNoLimit() {
        Lifespan one = born(age(100), 0);
        long now = BORN + 110 * SECOND;
        one.lookAtAge(now);
        Lifetime quieter = new Lifetime(100 * SECOND, 0.2, NONE, NONE, 300 * SECOND, SECOND, 9 * SECOND);

        one.relimit(quieter, false, 0.5, now);

        assertEquals(BORN + 400 * SECOND, one.nextNanos(now));
        assertEquals(SECOND, one.neededSilenceNanos(ANSWERED, now));
        assertEquals(9 * SECOND, one.limits().lingerNanos());
    }

    @Test
    void aDrainThatIsTakenBackFromAClientThatKnowsLosesItsDeadline() {
        RetireOrder drain = RetireOrder.everywhere(CloseReason.DRAIN);
        Lifespan one = born(Lifetime.DEFAULT, 0);
        one.retire(drain, BORN, BORN + 10 * SECOND, BORN);
        one.leaveWithoutDeadline(drain);

        assertTrue(one.retiring(BORN));
        assertFalse(one.atHardLimit(BORN + 1_000_000 * SECOND));
        assertEquals(CloseReason.DRAIN, one.reason(BORN));
    }

    @Test
    void whoDoesNotHeedHasItsHardLimitNow() {
        Lifespan one = born(age(100), 0);
        long now = BORN + 110 * SECOND;
        one.lookAtAge(now);
        one.hurry(now);

        assertTrue(one.atHardLimit(now));
    }

    @Test
    void betweenExchangesItIsWaitedFromWhenItWasToEnd() {
        Lifespan one = born(age(100), 0);
        long soft = BORN + 100 * SECOND;
        one.lookAtAge(soft);

        assertEquals(soft + 150 * SECOND, one.betweenExchangesUntilNanos(BORN, soft), "half of 300 s");
        long later = soft + 100 * SECOND;
        assertEquals(soft + 100 * SECOND, one.betweenExchangesUntilNanos(BORN, later), "half of the 200 s that remain");
    }

    @Property
    void everySoftLimitLiesWithinTheJitter(
            @ForAll @DoubleRange(min = -1, max = 1, maxIncluded = false) double draw,
            @ForAll @DoubleRange(min = 0, max = 1) double jitter) {
        Lifetime limits = new Lifetime(1000 * SECOND, jitter, NONE, NONE, 0, SECOND, 0);
        long soft = born(limits, draw).nextNanos(BORN) - BORN;

        assertTrue(soft >= Math.max(0.05, 1 - jitter) * 1000 * SECOND - 1, () -> soft + " is too early");
        assertTrue(soft <= (1 + jitter) * 1000 * SECOND + 1, () -> soft + " is too late");
    }
}
