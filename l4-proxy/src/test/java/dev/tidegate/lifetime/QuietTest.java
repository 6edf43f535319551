package dev.tidegate.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class QuietTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long FAR = 1_000_000 * SECOND;
    private static final Quiet.Seen ANSWERED = new Quiet.Seen(false, 0, 0);
    private static final Quiet.Seen OWED = new Quiet.Seen(true, 0, 0);

    @Test
    void afterTheEndpointSpokeLastQuietIsEnough() {
        assertEquals(5 * SECOND, Quiet.neededNanos(ANSWERED, 5 * SECOND, 300 * SECOND, 300 * SECOND));
    }

    @Test
    void anAnswerThatMayBeOwedIsWaitedForHalfTheGrace() {
        assertEquals(150 * SECOND, Quiet.neededNanos(OWED, 5 * SECOND, 300 * SECOND, FAR));
    }

    @Test
    void anAnswerThatMayBeOwedIsWaitedForFourQuietIfTheGraceIsShort() {
        assertEquals(20 * SECOND, Quiet.neededNanos(OWED, 5 * SECOND, 30 * SECOND, FAR));
        assertEquals(20 * SECOND, Quiet.neededNanosUnlimited(OWED, 5 * SECOND));
    }

    @Test
    void anAnswerThatMayBeOwedIsWaitedForTwiceTheLongestWaitSeen() {
        Quiet.Seen slow = new Quiet.Seen(true, 0, 90 * SECOND);

        assertEquals(180 * SECOND, Quiet.neededNanosUnlimited(slow, 5 * SECOND));
        assertEquals(180 * SECOND, Quiet.neededNanos(slow, 5 * SECOND, 300 * SECOND, FAR));
    }

    @Test
    void theNearerTheHardLimitTheLessSilenceIsAskedFor() {
        assertEquals(10 * SECOND, Quiet.neededNanos(OWED, 5 * SECOND, 300 * SECOND, 20 * SECOND));
        // A heartbeat every 30 s: not every such connection shall be cut.
        assertEquals(
                25 * SECOND, Quiet.neededNanos(new Quiet.Seen(false, 30 * SECOND, 0), 5 * SECOND, FAR, 50 * SECOND));
    }

    @Test
    void aLongPauseWithinAnAnswerAsksForFourTimesItself() {
        assertEquals(120 * SECOND, Quiet.neededNanosUnlimited(new Quiet.Seen(false, 30 * SECOND, 0), SECOND));
    }

    @Test
    void aShortPauseAsksForTenTimesItselfButNotForMoreThanSixteenQuiet() {
        assertEquals(5 * SECOND, Quiet.neededNanosUnlimited(new Quiet.Seen(false, SECOND / 2, 0), SECOND / 2));
        assertEquals(8 * SECOND, Quiet.neededNanosUnlimited(new Quiet.Seen(false, 2 * SECOND, 0), SECOND / 2));
    }

    @Test
    void theLongestTimesDoNotOverflow() {
        long century = Long.MAX_VALUE / 3;
        Quiet.Seen endless = new Quiet.Seen(true, Long.MAX_VALUE, Long.MAX_VALUE);

        assertTrue(Quiet.neededNanosUnlimited(endless, SECOND) > century / 2);
        assertTrue(Quiet.neededNanosUnlimited(new Quiet.Seen(false, Long.MAX_VALUE, 0), century) > century / 2);
        assertEquals(SECOND, Quiet.neededNanos(new Quiet.Seen(false, Long.MAX_VALUE, 0), SECOND, century, 2 * SECOND));
    }

    @Test
    void betweenKnownExchangesHalfOfWhatRemainsIsWaitedFor() {
        assertEquals(100 * SECOND, Quiet.betweenExchangesNanos(true, 5 * SECOND, 200 * SECOND));
        assertEquals(5 * SECOND, Quiet.betweenExchangesNanos(true, 5 * SECOND, SECOND));
        assertEquals(5 * SECOND, Quiet.betweenExchangesNanos(false, 5 * SECOND, 0));
    }

    @Property
    void neverLessThanQuietNorMoreThanHalfOfWhatRemainsBeyondIt(
            @ForAll boolean owed,
            @ForAll @LongRange(min = 0, max = 1000 * SECOND) long pause,
            @ForAll @LongRange(min = 0, max = 1000 * SECOND) long wait,
            @ForAll @LongRange(min = 1, max = 1000 * SECOND) long quiet,
            @ForAll @LongRange(min = 0, max = 100_000 * SECOND) long grace,
            @ForAll @LongRange(min = 0, max = 100_000 * SECOND) long remaining) {
        Quiet.Seen seen = new Quiet.Seen(owed, pause, wait);
        long needed = Quiet.neededNanos(seen, quiet, grace, remaining);

        assertTrue(needed >= quiet);
        assertTrue(needed <= Math.max(quiet, remaining / 2));
        assertTrue(needed >= Math.min(remaining / 2, owed ? 2 * wait : 4 * pause));
    }
}
