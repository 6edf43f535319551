package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class FirstCandidatesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private boolean enough;
    private List<String> awaiting = List.of("web", "api");
    private Runnable whilePausing = () -> {};
    private long nanos = -500; // a ticker may begin below 0
    private int pauses;

    private List<String> await() {
        return new FirstCandidates(() -> awaiting, () -> enough, () -> nanos, this::pause).await(PATIENCE);
    }

    private void pause(long forNanos) {
        pauses++;
        nanos += forNanos;
        whilePausing.run();
    }

    @Test
    void whoCanServeFromTheStartIsNotHeldUp() {
        awaiting = List.of();

        assertEquals(List.of(), await());

        assertEquals(0, pauses);
    }

    @Test
    void waitsUntilTheLastFrontendHasSomebody() {
        whilePausing = () -> awaiting = pauses < 3 ? List.of("api") : List.of();

        assertEquals(List.of(), await());

        assertEquals(3, pauses);
    }

    @Test
    void nobodyIsWaitedForOnceItIsEnough() {
        whilePausing = () -> enough = true;

        assertEquals(List.of(), await());

        assertEquals(1, pauses);
    }

    @Test
    void givesUpAndSaysWhoHasNobody() {
        long begin = nanos;

        assertEquals(List.of("web", "api"), await());

        assertEquals(PATIENCE.toNanos(), nanos - begin);
    }
}
