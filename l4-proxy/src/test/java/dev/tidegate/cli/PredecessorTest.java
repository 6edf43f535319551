package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class PredecessorTest {
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    @Test
    void takesOverInTheMomentWhenTheEndpointsAreKnown() throws Exception {
        assertWaitsFor(new CompletableFuture<>(), known -> known.complete(null));
    }

    /** Nobody accepts any more whoever comes. */
    @Test
    void aProcessBeforeThatEndsMeanwhileIsNotWaitedFor() throws Exception {
        assertWaitsFor(new CompletableFuture<>(), known -> gone.complete(null));
    }

    private void assertWaitsFor(CompletableFuture<Void> known, Consumer<CompletableFuture<Void>> event)
            throws Exception {
        CompletableFuture<Void> wait = CompletableFuture.runAsync(
                () -> assertDoesNotThrow(() -> Predecessor.awaitKnown(known, gone, TimeUnit.HOURS.toMillis(1))));
        assertThrows(TimeoutException.class, () -> wait.get(50, TimeUnit.MILLISECONDS));

        event.accept(known);

        wait.get(10, TimeUnit.SECONDS);
    }

    @Test
    void endpointsThatDoNotBecomeKnownHoldNobodyUpForEver() {
        assertDoesNotThrow(() -> Predecessor.awaitKnown(new CompletableFuture<>(), gone, 1));
    }

    /** What has ended is told to nobody as ready. */
    @Test
    void aProcessThatEndsMeanwhileTakesNothingOver() {
        CompletableFuture<Void> known = new CompletableFuture<>();
        known.cancel(false);

        assertThrows(IOException.class, () -> Predecessor.awaitKnown(known.copy(), gone, 1));
    }
}
