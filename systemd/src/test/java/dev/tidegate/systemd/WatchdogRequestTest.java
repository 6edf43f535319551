package dev.tidegate.systemd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WatchdogRequestTest {
    private static Optional<Duration> interval(Map<String, String> environment) {
        return WatchdogRequest.interval(environment::get, 42);
    }

    @Test
    void noVariableAsksForNothing() {
        assertEquals(Optional.empty(), interval(Map.of()));
        assertEquals(Optional.empty(), interval(Map.of("WATCHDOG_PID", "42")));
    }

    @Test
    void onlyTheProcessThatIsAskedAnswers() {
        assertEquals(Optional.of(Duration.ofSeconds(30)), interval(Map.of("WATCHDOG_USEC", "30000000")));
        assertEquals(
                Optional.of(Duration.ofMillis(500)), interval(Map.of("WATCHDOG_USEC", "500000", "WATCHDOG_PID", "42")));
        assertEquals(Optional.empty(), interval(Map.of("WATCHDOG_USEC", "500000", "WATCHDOG_PID", "41")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "soon", "0", "-5", "99999999999999999999"})
    void whatIsNoTimeIsAWarning(String micros) {
        try (LogLines lines = new LogLines()) {
            assertEquals(Optional.empty(), interval(Map.of("WATCHDOG_USEC", micros)));
            assertTrue(lines.all().get(0).contains("WATCHDOG_USEC: \"" + micros + "\""));
        }
    }
}
