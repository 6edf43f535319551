package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Those who ask the same within a moment share an answer, and nobody is told what is older than that or than a write. */
class RecentTest {
    private static final long KEEP_NANOS = 100;

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 10); // so that it wraps
    private final List<CompletableFuture<String>> asked = new ArrayList<>();
    private final Recent<String> recent = new Recent<>(nanos::get, KEEP_NANOS, this::ask);

    private CompletionStage<String> ask() {
        asked.add(new CompletableFuture<>());
        return asked.get(asked.size() - 1);
    }

    @Test
    void anAnswerIsGivenAgainUntilItIsTooOld() {
        CompletionStage<String> first = recent.get();
        asked.get(0).complete("one");
        nanos.addAndGet(KEEP_NANOS - 1);
        assertSame(first, recent.get());

        nanos.incrementAndGet();

        assertNotSame(first, recent.get());
        assertEquals(2, asked.size());
    }

    @Test
    void aQuestionUnderWayIsJoined() {
        CompletionStage<String> first = recent.get();

        assertSame(first, recent.get());
        assertEquals(1, asked.size());
        assertFalse(first.toCompletableFuture().isDone());
    }

    /** What a worker answered before another was stuck is old by the time the other answers. */
    @Test
    void aQuestionUnderWayForLongIsAskedAgain() {
        CompletionStage<String> first = recent.get();
        nanos.addAndGet(KEEP_NANOS);

        assertNotSame(first, recent.get());
    }

    @Test
    void afterAWriteNothingIsToldThatWasAskedBeforeIt() {
        CompletionStage<String> told = recent.get();
        asked.get(0).complete("before");
        recent.forget();
        CompletionStage<String> underWay = recent.get();
        assertNotSame(told, underWay);

        recent.forget();
        CompletionStage<String> after = recent.get();
        asked.get(1).complete("during");

        assertNotSame(underWay, after);
        assertSame(after, recent.get());
        assertFalse(after.toCompletableFuture().isDone());
    }

    @Test
    void aFailureIsNotKept() {
        CompletionStage<String> first = recent.get();
        asked.get(0).completeExceptionally(new IllegalStateException("ended"));

        assertNotSame(first, recent.get());
        assertEquals(2, asked.size());
    }
}
