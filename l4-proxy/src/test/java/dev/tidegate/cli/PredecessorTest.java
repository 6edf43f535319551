package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PredecessorTest {
    @Test
    void takesOverInTheMomentWhenTheEndpointsAreKnown() throws Exception {
        CompletableFuture<Void> checks = new CompletableFuture<>();
        CompletableFuture<Void> wait = CompletableFuture.runAsync(
                () -> assertDoesNotThrow(() -> Predecessor.awaitFirstChecks(checks, TimeUnit.HOURS.toMillis(1))));
        assertFalse(wait.isDone());

        checks.complete(null);

        wait.get(10, TimeUnit.SECONDS);
    }

    @Test
    void checksThatDoNotEndHoldNobodyUpForEver() {
        assertDoesNotThrow(() -> Predecessor.awaitFirstChecks(new CompletableFuture<>(), 1));
    }

    /** What has ended is told to nobody as ready. */
    @Test
    void aProcessThatEndsMeanwhileTakesNothingOver() {
        CompletableFuture<Void> checks = new CompletableFuture<>();
        checks.cancel(false);

        assertThrows(IOException.class, () -> Predecessor.awaitFirstChecks(checks.copy(), 1));
    }
}
