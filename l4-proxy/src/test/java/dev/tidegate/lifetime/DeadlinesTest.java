package dev.tidegate.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
    private static final long TICK = Deadlines.TICK_NANOS;
    private static final long START = 123_456_789_012L;

    private long now = START;
    private final List<String> fired = new ArrayList<>();
    private int firsts;
    private final Deadlines deadlines = new Deadlines(START, () -> {
        firsts++;
        return now;
    });

    @Test
    void firesNotBeforeItsTimeAndAtMostOneTickAfter() {
        arm("a", START + 10 * TICK + 1);

        advanceTo(START + 10 * TICK);
        assertEquals(List.of(), fired);
        advanceTo(START + 11 * TICK + 1);

        assertEquals(List.of("a"), fired);
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void firesTickByTickInTheOrderOfTimeHoweverTheyWereArmed() {
        arm("third", START + 300 * TICK);
        arm("first", START + 5 * TICK);
        arm("second", START + 200 * TICK);

        advanceTo(START + 1_000 * TICK);

        assertEquals(List.of("first", "second", "third"), fired);
    }

    @Test
    void whatIsCancelledDoesNotFire() {
        arm("kept", START + 5 * TICK);
        deadlines.cancel(arm("cancelled", START + 5 * TICK));

        advanceTo(START + 10 * TICK);

        assertEquals(List.of("kept"), fired);
    }

    @Test
    void cancellingTwiceOrNothingIsHarmless() {
        long handle = arm("a", START + 5 * TICK);
        deadlines.cancel(handle);
        deadlines.cancel(handle);
        deadlines.cancel(Deadlines.UNARMED);

        assertTrue(deadlines.isEmpty());
    }

    @Test
    void aHandleThatIsVoidCancelsNobodyElse() {
        long fires = arm("a", START + 5 * TICK);
        advanceTo(START + 6 * TICK);
        arm("b", START + 10 * TICK);
        deadlines.cancel(fires);
        long cancelled = arm("c", START + 10 * TICK);
        deadlines.cancel(cancelled);
        arm("d", START + 10 * TICK);
        deadlines.cancel(cancelled);

        advanceTo(START + 12 * TICK);

        assertEquals(List.of("a", "b", "d"), fired);
        assertNotEquals(Deadlines.UNARMED, fires);
    }

    @Test
    void oneThatArmsItselfAgainInsideItsExpiryFiresAgainInTime() {
        deadlines.arm(START + 5 * TICK, new Expirable() {
            @Override
            public void onDeadline(long nowNanos) {
                fired.add("x");
                if (fired.size() < 4) {
                    deadlines.arm(nowNanos + 2 * TICK, this);
                }
            }
        });
        for (int tick = 1; tick <= 20; tick++) {
            advanceTo(START + tick * TICK);
        }

        assertEquals(List.of("x", "x", "x", "x"), fired);
    }

    /** The place that an expiry has just left lies behind the wheel's hand: what is armed there would wait a whole turn. */
    @Test
    void oneArmedForThePastInsideAnExpiryFiresByTheNextTick() {
        arm("other", START + 5 * TICK);
        deadlines.arm(START + 5 * TICK, late -> {
            fired.add("late");
            arm("past", START + 2 * TICK);
        });
        arm("another", START + 5 * TICK);

        advanceTo(START + 8 * TICK);
        advanceTo(START + 9 * TICK);

        assertTrue(fired.contains("past"), "fired: " + fired);
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void oneCancelledInsideAnotherExpiryOfTheSameTickDoesNotFire() {
        long[] victim = new long[1];
        deadlines.arm(START + 5 * TICK, now -> {
            fired.add("killer");
            deadlines.cancel(victim[0]);
        });
        victim[0] = arm("victim", START + 5 * TICK);

        advanceTo(START + 7 * TICK);

        assertEquals(List.of("killer"), fired);
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void afterALongStallAllThatIsDueFiresAtOnce() {
        for (int i = 1; i <= 1_000; i++) {
            arm("d" + i, START + i * 7L * TICK);
        }

        advanceTo(START + 10_000L * TICK);

        assertEquals(1_000, fired.size());
        assertTrue(deadlines.isEmpty());
    }

    /** Connections that came together have their deadlines together. */
    @Test
    void aHundredThousandInOneTickTakeNoMoreMemoryThanAnywhereElse() {
        for (int i = 0; i < 100_000; i++) {
            arm("d", START + 5 * TICK);
        }
        assertEquals(100_000, deadlines.size());

        for (int i = 0; i < 40; i++) {
            advanceTo(START + (6 + i) * TICK);
        }

        assertEquals(100_000, fired.size());
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void manyDueAtOnceAreSpreadOverTurnsOfTheLoopAndNoneIsLost() {
        for (int i = 0; i < 20_000; i++) {
            arm("d" + i, START + 5 * TICK);
        }

        advanceTo(START + 6 * TICK);
        int first = fired.size();
        assertTrue(first < 20_000, "all in one turn");
        for (int i = 0; i < 10; i++) {
            advanceTo(now + TICK);
        }

        assertEquals(20_000, fired.size());
        assertTrue(deadlines.isEmpty());
    }

    @Test
    void theFirstOneArmedWhileThereWasNoneIsToldOf() {
        arm("a", START + 5 * TICK);
        arm("b", START + 6 * TICK);
        assertEquals(1, firsts);
        advanceTo(START + 8 * TICK);

        arm("c", START + 10 * TICK);

        assertEquals(2, firsts);
    }

    @Test
    void afterMonthsWithoutADeadlineTheFirstOneFiresInTimeAndTheWheelDoesNotTurnThroughThem() {
        arm("before", START + TICK);
        advanceTo(START + 3 * TICK);
        now += Duration.ofDays(30).toNanos();

        // 150 million ticks, each a look: seconds, in which the worker would stand still.
        assertTimeout(Duration.ofSeconds(2), () -> {
            arm("after", now + 2 * TICK);
            advanceTo(now + TICK);
            assertEquals(List.of("before"), fired);
            advanceTo(now + 2 * TICK);
            assertEquals(List.of("before", "after"), fired);
        });
    }

    /** Against a plain list: what must have fired has, what must not has not, nothing twice. */
    @Property(tries = 300)
    void agreesWithAPlainListOfDeadlines(@ForAll long seed, @ForAll @IntRange(min = 1, max = 400) int steps) {
        RandomGenerator random =
                RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(seed);
        now = START;
        Deadlines wheel = new Deadlines(START, () -> now);
        Map<Integer, Long> due = new HashMap<>();
        Map<Integer, Long> handles = new HashMap<>();
        Set<Integer> woken = new HashSet<>();
        int next = 0;
        for (int step = 0; step < steps; step++) {
            switch (random.nextInt(4)) {
                case 0, 1 -> {
                    int id = next++;
                    long at = now + delay(random);
                    due.put(id, at);
                    handles.put(id, wheel.arm(at, late -> {
                        assertFalse(woken.contains(id), "twice");
                        assertTrue(late - at >= 0, "early");
                        woken.add(id);
                    }));
                }
                case 2 -> {
                    if (!handles.isEmpty()) {
                        int id = handles.keySet().iterator().next();
                        wheel.cancel(handles.remove(id));
                        due.remove(id);
                    }
                }
                default -> {
                    now += random.nextBoolean() ? random.nextLong(3 * TICK) : random.nextLong(5_000 * TICK);
                    woken.clear();
                    wheel.advance(now);
                    for (int id : woken) {
                        assertTrue(due.get(id) - now <= 0);
                        due.remove(id);
                        handles.remove(id);
                    }
                    due.forEach((id, at) -> assertTrue(at - now > 0, () -> "overdue by " + (now - at)));
                    assertEquals(due.size(), wheel.size());
                }
            }
        }
    }

    private static long delay(RandomGenerator random) {
        return switch (random.nextInt(4)) {
            case 0 -> -random.nextLong(5 * TICK);
            case 1 -> random.nextLong(4 * TICK);
            case 2 -> random.nextLong(3_000 * TICK);
            default -> random.nextLong(300_000 * TICK);
        };
    }

    private long arm(String name, long at) {
        return deadlines.arm(at, late -> fired.add(name));
    }

    private void advanceTo(long time) {
        now = time;
        deadlines.advance(time);
    }
}
