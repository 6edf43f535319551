package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class FirstCandidatesTest {
    private boolean hopeless;
    private List<String> without = List.of("web", "api");
    private Runnable whilePausing = () -> {};
    private long nanos = -500; // a ticker may begin below 0
    private int pauses;

    private List<String> await() {
        return new FirstCandidates(() -> without, () -> hopeless, () -> nanos, this::pause).await();
    }

    private void pause(long forNanos) {
        pauses++;
        nanos += forNanos;
        whilePausing.run();
    }

    @Test
    void whoCanServeFromTheStartIsNotHeldUp() {
        without = List.of();

        assertEquals(List.of(), await());

        assertEquals(0, pauses);
    }

    @Test
    void waitsUntilTheLastFrontendHasSomebody() {
        whilePausing = () -> without = pauses < 3 ? List.of("api") : List.of();

        assertEquals(List.of(), await());

        assertEquals(3, pauses);
    }

    @Test
    void whatWillNotChangeByWaitingIsNotWaitedFor() {
        whilePausing = () -> hopeless = true;

        assertEquals(List.of(), await());

        assertEquals(1, pauses);
    }

    @Test
    void givesUpAndSaysWhoHasNobody() {
        long begin = nanos;

        assertEquals(List.of("web", "api"), await());

        assertEquals(FirstCandidates.PATIENCE_NANOS, nanos - begin);
    }
}
