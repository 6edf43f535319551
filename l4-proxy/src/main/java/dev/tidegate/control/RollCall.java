package dev.tidegate.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks control's thread and every worker's loop for a sign of life: each answers when it comes to its next turn. Who is stuck
 * in what it does, or for ever in what it waits for, does not answer.
 *
 * <p>Any thread.
 */
public final class RollCall {
    private static final Logger log = LoggerFactory.getLogger(RollCall.class);

    private final Map<String, Boolean> missing = new ConcurrentHashMap<>();
    private final AtomicBoolean told = new AtomicBoolean();
    private final Runnable whenAll;

    private RollCall(Runnable whenAll) {
        this.whenAll = whenAll;
    }

    /**
     * Calls.
     *
     * @param loops who is to answer, by the words for them; who has come to its end never does
     * @param whenAll called once all have answered, by the last of them; must not wait
     */
    public static RollCall begin(Map<String, ? extends Executor> loops, Runnable whenAll) {
        RollCall call = new RollCall(whenAll);
        loops.keySet().forEach(name -> call.missing.put(name, true)); // all of them before the first can answer
        loops.forEach(call::ask);
        call.tellWhenComplete(); // when there was nobody to ask
        return call;
    }

    private void ask(String name, Executor loop) {
        try {
            loop.execute(() -> answer(name));
        } catch (RejectedExecutionException dead) {
            log.debug("{} has come to its end, and will not answer", name, dead);
        }
    }

    private void answer(String name) {
        missing.remove(name);
        tellWhenComplete();
    }

    private void tellWhenComplete() {
        if (missing.isEmpty() && told.compareAndSet(false, true)) {
            whenAll.run();
        }
    }

    /** Whether all have answered. */
    public boolean complete() {
        return missing.isEmpty();
    }

    /** Who has not answered yet, in words, sorted; empty when all have. */
    public List<String> missing() {
        List<String> names = new ArrayList<>(missing.keySet());
        names.sort(null);
        return names;
    }
}
