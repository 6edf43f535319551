package dev.tidegate.control;

import dev.tidegate.worker.Worker;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/** Things to do on every worker's loop. Called from control's thread or a test's, never from a worker's. */
final class Loops {
    /** So long control waits for something that a worker has to do, and then goes on without. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    private Loops() {}

    /**
     * Does it everywhere and waits for all, but no longer than that.
     *
     * @return on how many workers it was not done by then
     * @throws RuntimeException what the action threw on one of them, after all had their time
     */
    static int tryRun(List<Worker> workers, Consumer<Worker> action, Duration patience) {
        List<Future<?>> done = new ArrayList<>();
        for (Worker worker : workers) {
            done.add(worker.loop().submit(() -> action.accept(worker)));
        }
        int late = awaitAll(done, patience);
        done.stream().filter(Future::isDone).forEach(Future::syncUninterruptibly);
        return late;
    }

    /**
     * Waits for all of them, no longer than that in all.
     *
     * @return how many were not done by then
     */
    static int awaitAll(List<Future<?>> futures, Duration patience) {
        CountDownLatch left = new CountDownLatch(futures.size());
        futures.forEach(future -> future.addListener(done -> left.countDown()));
        try {
            if (left.await(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                return 0;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return (int) futures.stream().filter(future -> !future.isDone()).count();
    }

    /** Asks everywhere; whoever asks does not wait. Completes when the last worker has answered, on its thread. */
    static <T> CompletableFuture<List<T>> askAll(List<Worker> workers, Function<Worker, T> question) {
        List<CompletableFuture<T>> answers = new ArrayList<>();
        for (Worker worker : workers) {
            CompletableFuture<T> answer = new CompletableFuture<>();
            answers.add(answer);
            try {
                worker.loop().execute(() -> {
                    try {
                        answer.complete(question.apply(worker));
                    } catch (Throwable fault) {
                        answer.completeExceptionally(fault);
                    }
                });
            } catch (RejectedExecutionException ended) {
                answer.completeExceptionally(ended);
            }
        }
        return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                .thenApply(all -> answers.stream().map(CompletableFuture::join).toList());
    }

    /** Asks everywhere and waits for all answers. */
    static <T> List<T> ask(List<Worker> workers, Function<Worker, T> question) {
        List<Future<T>> answers = new ArrayList<>();
        for (Worker worker : workers) {
            answers.add(worker.loop().submit(() -> question.apply(worker)));
        }
        return answers.stream()
                .map(answer -> answer.syncUninterruptibly().getNow())
                .toList();
    }
}
