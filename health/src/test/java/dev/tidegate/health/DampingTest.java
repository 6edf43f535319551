package dev.tidegate.health;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DampingTest {
    private final Damping damping = new Damping();
    private long nowNanos;

    private static CheckPlan plan(Duration maxHold) {
        return new CheckPlan(
                (context, address, done) -> {
                    throw new AssertionError("not run here");
                },
                2_000_000_000L,
                1_000_000_000L,
                1_000_000_000L,
                0,
                2,
                3,
                Condition.UP,
                maxHold.toNanos());
    }

    private void pass(Duration time) {
        nowNanos += time.toNanos();
    }

    private long fallAndRise(CheckPlan plan) {
        damping.onFall(nowNanos, plan);
        long heldNanos = damping.heldNanos(nowNanos, plan);
        nowNanos += heldNanos;
        damping.onRise(nowNanos);
        return Duration.ofNanos(heldNanos).toSeconds();
    }

    private List<Long> holdsSeconds(int falls, CheckPlan plan) {
        List<Long> holds = new ArrayList<>();
        for (int i = 0; i < falls; i++) {
            pass(Duration.ofSeconds(5));
            holds.add(fallAndRise(plan));
        }
        return holds;
    }

    @Test
    void theFirstFallIsFreeAndEachOneMoreDoublesTheHoldUpToTheLimit() {
        assertEquals(
                List.of(0L, 8L, 16L, 32L, 64L, 128L, 256L, 300L, 300L), holdsSeconds(9, plan(Duration.ofMinutes(5))));
    }

    @Test
    void aThousandFallsDoNotOverflow() {
        List<Long> holds = holdsSeconds(1_000, plan(Duration.ofMinutes(5)));

        assertEquals(300, holds.get(999));
    }

    @Test
    void aLimitOfZeroSwitchesItOff() {
        assertEquals(List.of(0L, 0L, 0L), holdsSeconds(3, plan(Duration.ZERO)));
    }

    @Test
    void theCountStartsOverAfterAMinuteUp() {
        holdsSeconds(3, plan(Duration.ofMinutes(5)));

        pass(Duration.ofSeconds(60));

        assertEquals(0, fallAndRise(plan(Duration.ofMinutes(5))));
    }

    @Test
    void afterLessThanAMinuteUpItGoesOn() {
        holdsSeconds(3, plan(Duration.ofMinutes(5)));

        pass(Duration.ofSeconds(60).minusNanos(1));

        assertEquals(32, fallAndRise(plan(Duration.ofMinutes(5))));
    }

    @Test
    void afterALongHoldItMustStayUpAsLongForTheCountToStartOver() {
        holdsSeconds(6, plan(Duration.ofMinutes(5)));

        pass(Duration.ofSeconds(127));
        assertEquals(256, fallAndRise(plan(Duration.ofMinutes(5))));
        pass(Duration.ofSeconds(256));
        assertEquals(0, fallAndRise(plan(Duration.ofMinutes(5))));
    }

    @Test
    void aLimitThatIsLoweredCountsAtOnce() {
        holdsSeconds(3, plan(Duration.ofMinutes(5)));
        pass(Duration.ofSeconds(1));
        damping.onFall(nowNanos, plan(Duration.ofMinutes(5)));

        assertEquals(Duration.ofSeconds(10).toNanos(), damping.heldNanos(nowNanos, plan(Duration.ofSeconds(10))));
        assertEquals(0, damping.heldNanos(nowNanos, plan(Duration.ZERO)));
    }
}
