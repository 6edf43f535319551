package dev.tidegate.control;

import dev.tidegate.worker.Worker;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Things to do on every worker's loop. Called from control's thread or a test's, never from a worker's. */
final class Loops {
    private Loops() {}

    /** Does it everywhere and waits for all. */
    static void run(List<Worker> workers, Consumer<Worker> action) {
        ask(workers, worker -> {
            action.accept(worker);
            return Boolean.TRUE;
        });
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
