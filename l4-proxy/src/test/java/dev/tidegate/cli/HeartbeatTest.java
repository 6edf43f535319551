package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.control.RollCall;
import dev.tidegate.testkit.LeakGuard;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HeartbeatTest {
    private static final long PERIOD_MILLIS = 500;

    private final MockTicker ticker = Ticker.newMockTicker();
    private final Deque<Runnable> worker = new ArrayDeque<>();
    private int signs;
    private int calls;
    private final Heartbeat heartbeat = new Heartbeat(
            whenAll -> {
                calls++;
                return RollCall.begin(Map.of("control", Runnable::run, "worker 3", worker::add), whenAll);
            },
            () -> signs++,
            ticker::nanoTime,
            TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS));

    private void beatAfter(long millis) {
        ticker.advance(millis, TimeUnit.MILLISECONDS);
        heartbeat.beat();
    }

    private void workerTurns() {
        while (!worker.isEmpty()) {
            worker.remove().run();
        }
    }

    @Test
    void aSignOfLifeComesWithTheLastAnswerAndNotBefore() {
        heartbeat.beat();
        assertEquals(0, signs);
        workerTurns();
        assertEquals(1, signs);
        beatAfter(PERIOD_MILLIS);
        workerTurns();
        assertEquals(2, signs);
    }

    @Test
    void whileAWorkerIsStuckThereIsNoSignAndOneLineThatNamesIt() {
        heartbeat.beat();
        workerTurns();
        LeakGuard.installed().expect("stuck, no sign of life .*: worker 3 took no turn for 500 ms");
        for (int i = 0; i < 20; i++) {
            beatAfter(PERIOD_MILLIS);
        }
        assertEquals(1, signs);
        assertEquals(2, calls); // what is stuck is not asked again and again
    }

    @Test
    void aWorkerThatTurnsAgainBringsItsSignAtOnce() {
        LeakGuard.installed().expect("stuck, no sign of life .*: worker 3 .*");
        heartbeat.beat();
        beatAfter(PERIOD_MILLIS);
        beatAfter(PERIOD_MILLIS);
        workerTurns();
        assertEquals(1, signs);
        beatAfter(PERIOD_MILLIS);
        workerTurns();
        assertEquals(2, signs);
    }

    /** The line would fail the test: nothing of it is expected. */
    @Test
    void aProcessThatStoodStillAsAWholeIsNotStuck() {
        heartbeat.beat();
        beatAfter(60_000); // its own thread runs first after it wakes
        assertEquals(0, signs);
        workerTurns();
        assertEquals(1, signs);
        beatAfter(PERIOD_MILLIS);
        workerTurns();
        assertEquals(2, signs);
    }
}
