package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** How fast something goes. */
class PaceTest {
    private static final long BEGIN = -5;
    private static final long SECOND = 1_000_000_000L;

    @Test
    void atFirstItIsThatSinceTheBeginning() {
        Pace pace = new Pace(BEGIN);
        assertEquals(0, pace.perSecond(0, BEGIN));
        assertEquals(20, pace.perSecond(10, BEGIN + SECOND / 2));
    }

    @Test
    void laterItIsThatOfTheLastTenSeconds() {
        Pace pace = new Pace(BEGIN);
        for (int tick = 0; tick <= 240; tick++) { // a hundred a second for a minute, then nothing
            long now = BEGIN + tick * SECOND / 4;
            pace.note(Math.min(tick * 25, 6_000), now);
        }
        assertEquals(100, new Pace(BEGIN).perSecond(6_000, BEGIN + 60 * SECOND));
        assertEquals(100, pace.perSecond(6_000, BEGIN + 60 * SECOND), 1);
        for (int second = 61; second <= 75; second++) {
            pace.note(6_000, BEGIN + second * SECOND);
        }
        assertEquals(0, pace.perSecond(6_000, BEGIN + 75 * SECOND));
    }
}
