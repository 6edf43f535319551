package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RelaunchTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    /** It was taken for the next process itself: one that never has its number was watched, and killed when all was well. */
    @Test
    void whatStandsBetweenAndStartsNothingIsEndedAndIsAFailure() throws Exception {
        Process between = new ProcessBuilder("cat").start();

        IOException failed = assertThrows(IOException.class, () -> Relaunch.childOf(between, Duration.ZERO));

        assertEquals("setsid has started nothing within 0 s", failed.getMessage());
        assertTrue(between.waitFor(10, TimeUnit.SECONDS));
    }

    @Test
    void whatItHasStartedIsTheNextProcess() throws Exception {
        Process between = new ProcessBuilder("sh", "-c", "sleep 60 & wait").start();
        try {
            ProcessHandle started = Relaunch.childOf(between, LONG);

            assertEquals(between.pid(), started.parent().orElseThrow().pid());
        } finally {
            between.descendants().forEach(ProcessHandle::destroyForcibly);
            between.destroyForcibly().waitFor();
        }
    }

    /** Its exit code tells why. */
    @Test
    void whatEndsWithoutHavingStartedAnythingIsItself() throws Exception {
        Process between = new ProcessBuilder("false").start();
        between.waitFor();

        assertEquals(between.pid(), Relaunch.childOf(between, LONG).pid());
    }
}
