package dev.tidegate.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class QuietTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    void afterTheEndpointSpokeLastQuietIsEnough() {
        assertEquals(5 * SECOND, Quiet.neededNanos(false, 5 * SECOND, 300 * SECOND, 300 * SECOND));
    }

    @Test
    void anAnswerThatMayBeOwedIsWaitedForHalfTheGrace() {
        assertEquals(150 * SECOND, Quiet.neededNanos(true, 5 * SECOND, 300 * SECOND, 1000 * SECOND));
    }

    @Test
    void anAnswerThatMayBeOwedIsWaitedForFourQuietIfTheGraceIsShort() {
        assertEquals(20 * SECOND, Quiet.neededNanos(true, 5 * SECOND, 30 * SECOND, 1000 * SECOND));
    }

    @Test
    void theNearerTheHardLimitTheLessSilenceIsAskedFor() {
        assertEquals(10 * SECOND, Quiet.neededNanos(true, 5 * SECOND, 300 * SECOND, 20 * SECOND));
    }

    @Property
    void neverLessThanQuietNorMoreThanHalfOfWhatRemainsBeyondIt(
            @ForAll boolean owed,
            @ForAll @LongRange(min = 1, max = 1000 * SECOND) long quiet,
            @ForAll @LongRange(min = 0, max = 100_000 * SECOND) long grace,
            @ForAll @LongRange(min = 0, max = 100_000 * SECOND) long remaining) {
        long needed = Quiet.neededNanos(owed, quiet, grace, remaining);

        assertTrue(needed >= quiet);
        assertTrue(needed <= Math.max(quiet, remaining / 2));
        assertTrue(needed >= Quiet.neededNanos(false, quiet, grace, remaining));
    }
}
