package dev.tidegate.bench.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimelineTest {
    private final Timeline timeline = new Timeline();
    private final List<String> seen = new ArrayList<>();

    @Test
    void thingsHappenInTheOrderOfTheirTimesAndThenOfBeingAskedFor() {
        timeline.at(20, () -> seen.add("late"));
        timeline.at(10, () -> seen.add("first"));
        timeline.at(10, () -> seen.add("second"));
        timeline.run();
        assertEquals(List.of("first", "second", "late"), seen);
        assertEquals(20, timeline.nanoTime());
    }

    @Test
    void whatIsPastHappensNow() {
        timeline.at(10, () -> timeline.at(5, () -> seen.add("at " + timeline.nanoTime())));
        timeline.run();
        assertEquals(List.of("at 10"), seen);
    }

    @Test
    void aRunUntilATimeEndsThere() {
        timeline.at(10, () -> seen.add("at 10"));
        timeline.at(11, () -> seen.add("at 11"));
        timeline.runUntil(10);
        assertEquals(List.of("at 10"), seen);
        timeline.runUntil(100);
        assertEquals(100, timeline.nanoTime());
    }

    @Test
    void tenThousandTimesComeSorted() {
        Chance chance = new Chance(1, 1);
        long[] times = new long[10_000];
        List<Long> happened = new ArrayList<>();
        for (int i = 0; i < times.length; i++) {
            times[i] = chance.nextLong(5_000);
            timeline.at(times[i], () -> happened.add(timeline.nanoTime()));
        }
        timeline.run();
        Arrays.sort(times);
        assertEquals(Arrays.stream(times).boxed().toList(), happened);
    }

    @Test
    void chanceIsTheSameForASeedAndAnotherForAnotherStream() {
        assertEquals(new Chance(7, 1).nextLong(), new Chance(7, 1).nextLong());
        assertNotEquals(new Chance(7, 1).nextLong(), new Chance(7, 2).nextLong());
        Moments draws = Moments.of(new Chance(7, 3).doubles(100_000).toArray());
        assertEquals(0.5, draws.mean(), 0.005);
        assertEquals(Math.sqrt(1 / 12.0), draws.deviation(), 0.005);
    }
}
