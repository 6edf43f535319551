package dev.tidegate.dial;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {
    private static final long MILLI = 1_000_000;

    private final RandomGenerator random =
            RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(5);

    /** envoyproxy/envoy#6291: connects were tried again without a pause between them. */
    @ParameterizedTest
    @CsvSource({"1,false,5", "2,false,10", "3,false,20", "7,false,320", "9,false,320", "1,true,50", "2,true,100"})
    void doublesAndIsDrawnFromHalfToOneAndAHalf(int failed, boolean again, long middleMillis) {
        long least = Long.MAX_VALUE;
        long greatest = 0;
        double sum = 0;
        Set<Long> different = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            long pause = Backoff.nanos(failed, again, random);
            least = Math.min(least, pause);
            greatest = Math.max(greatest, pause);
            sum += pause;
            different.add(pause);
        }
        long middle = middleMillis * MILLI;

        assertTrue(least >= middle / 2 && least < middle * 0.51, "least " + least);
        assertTrue(greatest <= middle * 3 / 2 && greatest > middle * 1.49, "greatest " + greatest);
        assertEquals((double) middle, sum / 10_000, middle * 0.02);
        assertTrue(different.size() > 9_000);
    }
}
