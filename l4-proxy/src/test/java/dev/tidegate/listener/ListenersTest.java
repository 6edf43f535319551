package dev.tidegate.listener;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListenersTest {
    @ParameterizedTest
    @ValueSource(strings = {"bind(..) failed with error(-13): Permission denied", "Permission denied"})
    void aPortThatMayNotBeTakenIsToldWithWhatItNeeds(String kernel) {
        String told = Listeners.plain(kernel);

        assertTrue(told.startsWith("permission denied; a port below 1024 needs CAP_NET_BIND_SERVICE"), told);
    }

    @Test
    void whatIsNotKnownIsToldAsTheKernelSaysIt() {
        assertEquals("bind(..) failed with error(-97): x", Listeners.plain("bind(..) failed with error(-97): x"));
    }
}
