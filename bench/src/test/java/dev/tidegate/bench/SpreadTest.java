package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class SpreadTest {
    @Test
    void medianOfAnEvenNumberIsTheMeanOfTheMiddleTwo() {
        assertEquals(new Spread(1, 2.5, 9), Spread.of(DoubleStream.of(9, 1, 2, 3)));
        assertEquals("1.0–2.5–9.0", Spread.of(DoubleStream.of(9, 1, 2, 3)).range(1));
    }

    @Test
    void oneUnknownValueMakesAllUnknown() {
        assertFalse(Spread.of(DoubleStream.of(1, Double.NaN)).isKnown());
        assertEquals("–", Spread.of(DoubleStream.empty()).median(2));
    }

    @Test
    void ratiosAreTakenWithinEachRound() {
        Measurements measured = new Measurements();
        for (long micros : new long[] {10, 40}) {
            measured.add(Trial.named("small"), "a", result(2 * micros));
            measured.add(Trial.named("small"), "b", result(micros));
        }
        assertEquals(new Spread(2, 2, 2), measured.ratio(Trial.named("small"), "a", "b", each -> each.cpuMicrosPer(1)));
        assertFalse(measured.ratio(Trial.named("small"), "a", "absent", each -> each.cpuMicrosPer(1))
                .isKnown());
    }

    @Test
    void slopeIsThatOfTheLineThroughTheReadings() {
        MemorySlope slope = MemorySlope.through(
                "a",
                List.of(
                        new MemorySlope.Reading(1_000, 14_000),
                        new MemorySlope.Reading(2_000, 18_000),
                        new MemorySlope.Reading(6_000, 34_000)));
        assertEquals(4.0, slope.bytesPerConnection(), 1e-9);
        assertEquals(1.0, slope.determination(), 1e-9);
    }

    private static LoadResult result(long cpuMicros) {
        return new LoadResult(1, 1, 1_000_000_000L, cpuMicros, 0, 0, 0, "");
    }
}
