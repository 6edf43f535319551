package dev.tidegate.control;

import dev.tidegate.health.HealthChecker;
import dev.tidegate.health.HealthListener;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * What a proxy runs on: control's thread, workers' loops, the loop of the checks. Its own threads in a process, one thread with
 * time of its own in a simulation.
 */
public interface Threads {
    /**
     * How long the end of workers' loops is waited for. On a starved machine dozens of rings take seconds to be taken down, and
     * nobody else waits for control any more.
     */
    Duration END_PATIENCE = Duration.ofSeconds(5);

    /** Threads of its own for each. */
    Threads OWN = new Threads() {
        /** How long at most a loop goes on after its last task. */
        private static final long LOOP_STOP_MILLIS = 1_000;

        @Override
        public ScheduledExecutorService control() {
            ScheduledThreadPoolExecutor control =
                    new ScheduledThreadPoolExecutor(1, new DefaultThreadFactory("tidegate-control", false));
            control.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            return control;
        }

        @Override
        public IoEventLoop worker(int index, IoHandlerFactory handlers) {
            return new SingleThreadIoEventLoop(
                    null, new DefaultThreadFactory("tidegate-worker-" + index, true), handlers);
        }

        @Override
        public HealthChecker checker(HealthChecker.Settings settings, HealthListener listener) {
            return new HealthChecker(settings, listener);
        }

        @Override
        public int end(List<EventLoop> workers, long lastCompletionsMillis) {
            List<Future<?>> ends = new ArrayList<>();
            for (EventLoop worker : workers) {
                ends.add(worker.shutdownGracefully(lastCompletionsMillis, LOOP_STOP_MILLIS, TimeUnit.MILLISECONDS));
            }
            return Loops.awaitAll(ends, END_PATIENCE);
        }
    };

    /** One thread at a time for control, in the order of time. Called once. */
    ScheduledExecutorService control();

    /**
     * A worker's loop. Called once for each.
     *
     * @param index of the worker
     * @param handlers what it does I/O with
     */
    IoEventLoop worker(int index, IoHandlerFactory handlers);

    /** What carries checks out, on a loop of its own. */
    HealthChecker checker(HealthChecker.Settings settings, HealthListener listener);

    /**
     * Ends workers' loops, and waits for that, for {@link #END_PATIENCE}.
     *
     * @param lastCompletionsMillis how long each goes on after its last task
     * @return how many have not ended
     */
    int end(List<EventLoop> workers, long lastCompletionsMillis);
}
