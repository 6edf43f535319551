package dev.tidegate.health;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StallProofTimeTest {
    private long clockNanos = Long.MAX_VALUE - 5; // wraps on the way
    private final StallProofTime time = new StallProofTime(() -> clockNanos);

    private static long ms(long millis) {
        return Duration.ofMillis(millis).toNanos();
    }

    @Test
    void itFollowsTheClockWhileTheLoopKeepsItsPlan() {
        for (int i = 0; i < 100; i++) {
            time.planWakeIn(ms(10));
            clockNanos += ms(12);
            time.nowNanos();
        }
        assertEquals(ms(1_200), time.nowNanos());
        assertFalse(time.takeStall());
    }

    @ParameterizedTest
    @ValueSource(longs = {120, 10_000, 3_600_000})
    void aStallPassesAsATenthOfASecondBeyondThePlan(long stallMillis) {
        time.planWakeIn(ms(10));
        clockNanos += ms(stallMillis);

        assertEquals(ms(110), time.nowNanos());
        assertTrue(time.takeStall());
        assertFalse(time.takeStall());
    }

    @Test
    void aPlannedSleepIsNoStall() {
        time.planWakeIn(ms(2_000));
        clockNanos += ms(2_000);

        assertEquals(ms(2_000), time.nowNanos());
        assertFalse(time.takeStall());
    }

    @Test
    void withNothingToDoAnySleepIsNoStall() {
        time.planWakeIn(StallProofTime.FOREVER);
        clockNanos += ms(86_400_000);

        assertEquals(ms(86_400_000), time.nowNanos());
        assertFalse(time.takeStall());
    }

    @Test
    void aClockThatGoesBackStandsStill() {
        time.planWakeIn(ms(10));
        clockNanos -= ms(3_600_000);

        assertEquals(0, time.nowNanos());
        clockNanos += ms(5);
        assertEquals(ms(5), time.nowNanos());
    }
}
