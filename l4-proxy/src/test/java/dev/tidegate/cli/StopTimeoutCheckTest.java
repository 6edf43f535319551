package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StopTimeoutCheckTest {
    @Test
    void aStopTimeoutAboveTheDeadlineIsNoMatter() {
        assertEquals(
                Optional.empty(),
                StopTimeoutCheck.complaint("tidegate.service", Duration.ofSeconds(305), Duration.ofMinutes(5)));
        assertEquals(
                Optional.empty(),
                StopTimeoutCheck.complaint("tidegate.service", Duration.ofSeconds(Long.MAX_VALUE), Duration.ofDays(7)));
    }

    @Test
    void aStopTimeoutBelowItIsALineWithBothValuesAndWhatToSet() {
        assertEquals(
                Optional.of(
                        "edge.service: TimeoutStopSec is 90 s, process.shutdown.deadline 300 s: a stop asks systemd for"
                                + " more time as it goes, but is killed when it cannot; set TimeoutStopSec=305 or more, or a shorter"
                                + " deadline"),
                StopTimeoutCheck.complaint("edge.service", Duration.ofSeconds(90), Duration.ofMinutes(5)));
        assertTrue(StopTimeoutCheck.complaint("edge.service", Duration.ofMillis(500), Duration.ofMillis(1_500))
                .orElseThrow()
                .contains("is 500 ms, process.shutdown.deadline 1500 ms"));
    }
}
