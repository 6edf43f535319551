package dev.tidegate.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Connections that came together, and whose clients come back when they are ended, in time that is only counted. After k
 * generations their ends have a standard deviation of √k · jitter · age / √3, so that what was one storm (grpc/grpc#10412)
 * becomes a murmur, and no generation brings it back.
 */
class GenerationsTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long SEED = 20_261_130;
    private static final int CONNECTIONS = 20_000;
    private static final int AGE_SECONDS = 600;
    private static final double JITTER = 0.2;

    private final FrontendCell cell = new FrontendCell("edge", 0);
    private final Random random = new Random(SEED);
    private final Lifetime limits = new Lifetime(
            AGE_SECONDS * SECOND, JITTER, Lifetime.UNLIMITED, Lifetime.UNLIMITED, 300 * SECOND, 5 * SECOND, 2 * SECOND);

    /** When each connection's next life reaches its soft limit. */
    private void live(long[] nanos) {
        for (int i = 0; i < nanos.length; i++) {
            Lifespan one = new Lifespan(cell, limits, nanos[i], 2 * random.nextDouble() - 1);
            nanos[i] = one.nextNanos(nanos[i]);
        }
    }

    private static double mean(long[] nanos) {
        return Arrays.stream(nanos).average().orElseThrow();
    }

    private static double deviationSeconds(long[] nanos) {
        double mean = mean(nanos);
        double variance = Arrays.stream(nanos)
                .mapToDouble(x -> (x - mean) * (x - mean))
                .average()
                .orElseThrow();
        return Math.sqrt(variance) / SECOND;
    }

    private static long peak(long[] nanos, long binNanos) {
        return Arrays.stream(nanos)
                .boxed()
                .collect(Collectors.groupingBy(x -> Math.floorDiv(x, binNanos), Collectors.counting()))
                .values()
                .stream()
                .mapToLong(Long::longValue)
                .max()
                .orElseThrow();
    }

    @Test
    void theSpreadGrowsWithTheRootOfTheGenerations() {
        double[] expectedSeconds = {69, 98, 120, 139, 155};
        long[] ends = new long[CONNECTIONS];
        for (int generation = 1; generation <= expectedSeconds.length; generation++) {
            live(ends);
            double expected = expectedSeconds[generation - 1];
            assertEquals(expected, deviationSeconds(ends), 0.05 * expected, "generation " + generation);
            assertEquals(generation * AGE_SECONDS, mean(ends) / SECOND, 5, "generation " + generation);
        }
    }

    @Test
    void theFirstWaveIsSpreadEvenlyAndEachOneAfterItIsLower() {
        long[] ends = new long[CONNECTIONS];
        long binNanos = 10 * SECOND;
        double uniform = CONNECTIONS * 10 / (2 * JITTER * AGE_SECONDS);
        live(ends);
        long before = peak(ends, binNanos);
        assertTrue(before <= 1.15 * uniform, "seed " + SEED + ": " + before + " in a bin, evenly " + uniform);
        for (int generation = 2; generation <= 5; generation++) {
            live(ends);
            long now = peak(ends, binNanos);
            long last = before;
            assertTrue(
                    now < 1.05 * last, "seed " + SEED + ", generation " + generation + ": " + now + " after " + last);
            before = now;
        }
        // The peak of a normal distribution with the deviation of five generations, with room for chance.
        double expected = CONNECTIONS * 10 / (Math.sqrt(2 * Math.PI) * 155);
        assertTrue(before <= 1.2 * expected, "seed " + SEED + ": " + before + ", expected " + expected);
    }
}
