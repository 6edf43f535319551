package dev.tidegate.control;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admission.ConnectionLimit;
import dev.tidegate.config.Durations;
import dev.tidegate.config.ShutdownConfig;
import dev.tidegate.control.Proxy.Phase;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.Listeners;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.RetireHow;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way out of a proxy: not ready, then not listening, then connections retired one by one, and those cut that are left at
 * the deadline. One that gives way to another process is on its way out from that decision on, so that nothing can come
 * between it and what follows.
 *
 * <pre>
 *   STARTING -> RUNNING -> DRAINING -> STOPPED
 *       \__________\________________________^   now
 * </pre>
 *
 * <p>Asked by any thread; carried out on control's.
 */
final class Stop {
    private static final Logger log = LoggerFactory.getLogger(Stop.class);

    /** Looks this often whether the last connection has gone. */
    private static final Duration LOOK = Duration.ofMillis(10);
    /**
     * How much later than its deadline a stop may end: a connection that ended quietly just before it still waits for its
     * client to read the last bytes, which the last call would cut off.
     */
    private static final Duration MARGIN = Duration.ofMillis(2_500);

    private final ScheduledExecutorService control;
    private final Ticker ticker;
    private final List<Worker> workers;
    private final Listeners listeners;
    private final Operations operations;
    private final ConnectionLimit limit;
    private final Supplier<ShutdownConfig> how;
    private final Cells cells;
    private final Runnable whenStopped;
    private final CompletableFuture<StopTimes> begun = new CompletableFuture<>();
    private volatile Phase phase = Phase.STARTING; // writer: control, and whoever starts the proxy
    private boolean givesWay; // control's thread

    /**
     * @param control its thread
     * @param ticker monotonic time
     * @param workers all of them
     * @param listeners to be closed
     * @param operations retire connections
     * @param limit counts them
     * @param how the configuration in force has it
     * @param cells of all frontends there ever were
     * @param whenStopped ends the rest; on control's thread, once
     */
    Stop(
            ScheduledExecutorService control,
            Ticker ticker,
            List<Worker> workers,
            Listeners listeners,
            Operations operations,
            ConnectionLimit limit,
            Supplier<ShutdownConfig> how,
            Cells cells,
            Runnable whenStopped) {
        this.control = control;
        this.ticker = ticker;
        this.workers = List.copyOf(workers);
        this.listeners = listeners;
        this.operations = operations;
        this.limit = limit;
        this.how = how;
        this.cells = cells;
        this.whenStopped = whenStopped;
    }

    /** Where the process stands. */
    Phase phase() {
        return phase;
    }

    /** The proxy accepts. */
    void listening() {
        phase = Phase.RUNNING;
    }

    /** Completes when a stop begins, with what it has for times. */
    CompletableFuture<StopTimes> begun() {
        return begun.copy();
    }

    /** Begins in order. A second call changes nothing. */
    void begin() {
        post(this::beginNow);
    }

    /** Ends everything at once. */
    void now() {
        post(this::endNow);
    }

    /**
     * Another process is to take this one's place: a stop begins, though it accepts still. On control's thread.
     *
     * @return false when it does not run, or is to stop already: then nothing changes
     */
    boolean tryGiveWay() {
        if (phase != Phase.RUNNING) {
            return false;
        }
        phase = Phase.DRAINING;
        givesWay = true;
        return true;
    }

    /**
     * Another process listens from now on: this one, which has given way, stops accepting at once, and retires its
     * connections as in any stop.
     *
     * @param whenClosed run when nothing is accepted any more
     */
    void handOver(Runnable whenClosed) {
        post(() -> {
            try {
                if (phase == Phase.DRAINING && givesWay) {
                    ShutdownConfig settings = how.get();
                    log.info(
                            "handed over, stopping connections={} deadline={} spread={}",
                            limit.active(),
                            Durations.format(settings.deadline()),
                            Durations.format(settings.spread()));
                    retireAll(ticker.nanoTime() + settings.deadline().toNanos());
                }
            } finally {
                whenClosed.run();
            }
        });
    }

    private void beginNow() {
        if (phase == Phase.STARTING || phase == Phase.RUNNING) {
            phase = Phase.DRAINING;
            ShutdownConfig settings = how.get();
            long now = ticker.nanoTime();
            long deadline = now + settings.deadline().toNanos();
            begun.complete(new StopTimes(now + settings.lameDuck().toNanos(), deadline, deadline + MARGIN.toNanos()));
            log.info(
                    "stopping connections={} deadline={} spread={} lame-duck={}",
                    limit.active(),
                    Durations.format(settings.deadline()),
                    Durations.format(settings.spread()),
                    Durations.format(settings.lameDuck()));
            postIn(settings.lameDuck(), () -> retireAll(deadline));
        }
    }

    /** Has control do a step. What is asked for when all is over needs no doing. */
    private void post(Runnable step) {
        postIn(Duration.ZERO, step);
    }

    private void postIn(Duration delay, Runnable step) {
        try {
            control.schedule(() -> carryOut(step), delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException stoppedAlready) {
            log.debug("nothing to do: the proxy has stopped");
        }
    }

    /** A fault would vanish in the task's future, and the stop hang without a word: it goes on, the hard way. */
    private void carryOut(Runnable step) {
        try {
            step.run();
        } catch (Throwable fault) {
            log.error("a step of the stop failed, connections are reset now phase={}", phase, fault);
            endNow();
        }
    }

    private void retireAll(long deadlineNanos) {
        if (phase != Phase.DRAINING) {
            return;
        }
        listeners.close();
        Duration window = Duration.ofNanos(Math.max(0, deadlineNanos - ticker.nanoTime()));
        Duration spread = how.get().spread();
        RetirePlan plan =
                new RetirePlan(DrainMode.GRACEFUL, Optional.of(window), spread.compareTo(window) < 0 ? spread : window);
        operations.begin(
                Operation.Kind.SHUTDOWN, "process", CloseReason.SHUTDOWN, plan, endpoint -> true, resident -> true);
        lookForLast(deadlineNanos + MARGIN.toNanos());
    }

    private void lookForLast(long lastCallNanos) {
        if (phase != Phase.DRAINING) {
            return;
        }
        if (workers.stream().mapToInt(Worker::load).sum() == 0) {
            finish();
        } else if (ticker.nanoTime() - lastCallNanos >= 0) {
            abortAll();
            finish();
        } else {
            postIn(LOOK, () -> lookForLast(lastCallNanos));
        }
    }

    private void endNow() {
        if (phase == Phase.STOPPED) {
            return;
        }
        long now = ticker.nanoTime();
        begun.complete(new StopTimes(now, now, now + MARGIN.toNanos()));
        try {
            listeners.close();
            abortAll();
        } catch (Throwable fault) {
            log.error("connections could not be reset, the process ends without", fault);
        } finally {
            finish();
        }
    }

    private void abortAll() {
        int busy = Loops.tryRun(workers, worker -> worker.forEachResident(Stop::abort), Loops.PATIENCE);
        if (busy > 0) {
            log.error("workers are stuck in what they do, their connections end with the process workers={}", busy);
        }
    }

    private static void abort(Resident resident) {
        resident.abort(CloseReason.SHUTDOWN);
    }

    private void finish() {
        boolean listened = phase != Phase.STARTING;
        phase = Phase.STOPPED;
        try {
            if (listened) {
                log.info("stopped cut={}", cut());
            }
        } finally {
            endTheRest();
        }
    }

    private void endTheRest() {
        try {
            whenStopped.run();
        } catch (Throwable fault) {
            log.error("the stop left something behind", fault);
        }
    }

    private long cut() {
        long cut = 0;
        for (Worker worker : workers) {
            for (FrontendCell frontend : cells.allFrontends()) {
                var row = worker.counters().readFrontend(frontend.slot());
                cut += row == null ? 0 : row.retired(CloseReason.SHUTDOWN, RetireHow.CUT);
            }
        }
        return cut;
    }
}
