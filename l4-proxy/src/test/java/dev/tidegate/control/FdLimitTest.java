package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FdLimitTest {
    @ParameterizedTest
    @ValueSource(longs = {130, 131, 256, 1_024, 20_000, 1_048_576})
    void theConnectionsAllowedNeedNoMoreThanThereIsWithAReserve(long descriptors) {
        int connections = FdLimit.connections(descriptors);

        assertTrue(2L * connections + FdLimit.RESERVE <= descriptors);
        assertTrue(2L * (connections + 1) + FdLimit.RESERVE > descriptors, "one more would fit");
        assertEquals(2L * connections + FdLimit.RESERVE, FdLimit.descriptorsFor(connections));
    }

    @Test
    void aTinyLimitStillAllowsOne() {
        assertEquals(1, FdLimit.connections(10));
    }

    @Test
    void noLimitAtAllIsStillANumberThatFits() {
        assertTrue(FdLimit.connections(Long.MAX_VALUE) > 1_000_000);
        assertTrue(FdLimit.descriptorsFor(FdLimit.connections(Long.MAX_VALUE)) > 0);
    }

    @Test
    void thisProcessHasALimit() {
        assertTrue(FdLimit.descriptors() > 0);
    }
}
