package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RollCallTest {
    private final Deque<Runnable> first = new ArrayDeque<>();
    private final Deque<Runnable> second = new ArrayDeque<>();
    private final AtomicInteger complete = new AtomicInteger();

    private RollCall call(Executor one, Executor other) {
        return RollCall.begin(Map.of("control", one, "worker 0", other), complete::incrementAndGet);
    }

    @Test
    void itIsCompleteOnceTheLastHasTakenItsTurn() {
        RollCall call = call(first::add, second::add);
        assertEquals(List.of("control", "worker 0"), call.missing());
        second.remove().run();
        assertEquals(List.of("control"), call.missing());
        assertFalse(call.complete());
        assertEquals(0, complete.get());

        first.remove().run();
        assertTrue(call.complete());
        assertEquals(List.of(), call.missing());
        assertEquals(1, complete.get());
    }

    @Test
    void whoAnswersAtOnceDoesNotAnswerForTheOthers() {
        RollCall call = call(Runnable::run, second::add);
        assertFalse(call.complete());
        second.remove().run();
        assertEquals(1, complete.get());
    }

    @Test
    void whoHasComeToItsEndIsMissing() {
        RollCall call = call(Runnable::run, task -> {
            throw new RejectedExecutionException("ended");
        });
        assertEquals(List.of("worker 0"), call.missing());
        assertEquals(0, complete.get());
    }

    @Test
    void withNobodyToAskItIsComplete() {
        assertTrue(RollCall.begin(Map.of(), complete::incrementAndGet).complete());
        assertEquals(1, complete.get());
    }
}
