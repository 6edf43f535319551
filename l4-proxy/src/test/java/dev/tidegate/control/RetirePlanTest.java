package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.lifetime.Lifespan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The times that are drawn for connections that many others leave with. */
class RetirePlanTest {
    private static final int DRAWS = 1_000;
    private static final long NOW = Long.MAX_VALUE / 2;
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private static List<RetirePlan.Times> draws(RetirePlan plan) {
        Random random = new Random(3);
        List<RetirePlan.Times> all = new ArrayList<>();
        for (int i = 0; i < DRAWS; i++) {
            all.add(plan.draw(NOW, random));
        }
        return all;
    }

    /** Each tenth of the window has about a tenth of them. */
    private static void assertSpread(Duration begin, Duration end, LongStream times) {
        int[] tenths = new int[10];
        long width = end.minus(begin).toNanos() / tenths.length;
        times.forEach(time -> {
            long into = time - NOW - begin.toNanos();
            assertTrue(into >= 0 && into <= width * tenths.length, () -> into + " ns after " + begin);
            tenths[(int) Math.min(tenths.length - 1, into / width)]++;
        });
        for (int tenth : tenths) {
            assertTrue(tenth > DRAWS / 20 && tenth < DRAWS / 5, () -> "not spread: " + List.of(tenth, DRAWS));
        }
    }

    /** envoyproxy/envoy#44419: when the time was over all were closed at once, and all came back at once. */
    @Test
    void lastMomentsAreSpreadOverTheLastFifthAndNoneIsAfterTheDeadline() {
        RetirePlan plan = RetirePlan.of(DrainMode.GRACEFUL, Optional.of(DEADLINE), Optional.empty());
        List<RetirePlan.Times> all = draws(plan);

        assertSpread(Duration.ZERO, Duration.ofSeconds(10), all.stream().mapToLong(RetirePlan.Times::startNanos));
        assertSpread(Duration.ofSeconds(16), DEADLINE, all.stream().mapToLong(RetirePlan.Times::hardNanos));
        assertEquals(NOW + DEADLINE.toNanos(), plan.lastNanos(NOW));
    }

    @Test
    void aShortSpreadIsTheLastMomentsToo() {
        RetirePlan plan = RetirePlan.of(DrainMode.GRACEFUL, Optional.of(DEADLINE), Optional.of(Duration.ofSeconds(1)));

        assertSpread(Duration.ofSeconds(19), DEADLINE, draws(plan).stream().mapToLong(RetirePlan.Times::hardNanos));
    }

    @Test
    void aWaitBeginsNothingAndACutIsSpreadLikewise() {
        for (RetirePlan.Times times : draws(RetirePlan.of(DrainMode.WAIT, Optional.empty(), Optional.empty()))) {
            assertEquals(NOW + Lifespan.NEVER, times.startNanos());
            assertEquals(NOW + Lifespan.NEVER, times.hardNanos());
        }
        RetirePlan cut = RetirePlan.of(DrainMode.CUT, Optional.empty(), Optional.of(Duration.ofSeconds(5)));
        assertSpread(
                Duration.ZERO,
                Duration.ofSeconds(5),
                draws(cut).stream()
                        .peek(times -> assertEquals(times.startNanos(), times.hardNanos()))
                        .mapToLong(RetirePlan.Times::hardNanos));
    }
}
