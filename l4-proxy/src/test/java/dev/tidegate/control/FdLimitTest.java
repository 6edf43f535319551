package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FdLimitTest {
    @ParameterizedTest
    @CsvSource({"136,1,1", "256,1,1", "1024,64,3", "20000,2,1", "1048576,256,100"})
    void theConnectionsAllowedNeedNoMoreThanThereIsWithAReserve(long descriptors, int workers, int listeners) {
        FdLimit limit = new FdLimit(descriptors, workers, listeners);

        int connections = limit.connections();

        assertTrue(2L * connections + limit.reserve() <= descriptors);
        assertTrue(2L * (connections + 1) + limit.reserve() > descriptors, "one more would fit");
        assertEquals(2L * connections + limit.reserve(), limit.descriptorsFor(connections));
    }

    /** Loops have descriptors of their own: with many of them 128 were used up before the limit on connections. */
    @ParameterizedTest
    @CsvSource({"1,1,133", "2,3,139", "256,1,1153"})
    void theReserveGrowsWithWorkersAndListeners(int workers, int listeners, long reserve) {
        assertEquals(reserve, new FdLimit(20_000, workers, listeners).reserve());
    }

    @Test
    void aTinyLimitStillAllowsOne() {
        assertEquals(1, new FdLimit(10, 1, 1).connections());
    }

    @Test
    void noLimitAtAllIsStillANumberThatFits() {
        FdLimit limit = new FdLimit(Long.MAX_VALUE, 1, 1);

        assertTrue(limit.connections() > 1_000_000);
        assertTrue(limit.descriptorsFor(limit.connections()) > 0);
    }

    @Test
    void thisProcessHasALimit() {
        assertTrue(FdLimit.ofThisProcess(1, 1).descriptors() > 0);
    }
}
