package dev.tidegate.control;

import dev.tidegate.lifetime.Ticker;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * What was asked a moment ago, for those who ask the same now: they share one answer, and one question that is under way.
 * An answer is no older than that moment, counted from when it was asked for, and than the last {@link #forget}. Any thread.
 */
final class Recent<T> {
    private final Ticker ticker;
    private final long keepNanos;
    private final Supplier<CompletionStage<T>> question;
    private CompletionStage<T> answer; // guarded by this; null for none
    private long askedNanos; // guarded by this

    /**
     * @param keepNanos how old an answer may be
     * @param question asks anew; must not wait
     */
    Recent(Ticker ticker, long keepNanos, Supplier<CompletionStage<T>> question) {
        this.ticker = ticker;
        this.keepNanos = keepNanos;
        this.question = question;
    }

    /** The answer to a question that was asked a moment ago at most. One that failed is asked again. */
    synchronized CompletionStage<T> get() {
        long now = ticker.nanoTime();
        if (answer == null
                || now - askedNanos >= keepNanos
                || answer.toCompletableFuture().isCompletedExceptionally()) {
            askedNanos = now;
            answer = question.get();
        }
        return answer;
    }

    /** From here on nobody is given what was asked before, told already or not. */
    synchronized void forget() {
        answer = null;
    }
}
