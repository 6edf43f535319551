package dev.tidegate.cli;

import dev.tidegate.control.FileReloads;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.RollCall;
import dev.tidegate.control.StopTimes;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.systemd.Notifier;
import dev.tidegate.systemd.WatchdogRequest;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the service manager informed, from the first moment of the start to the end of the process.
 *
 * <pre>
 *   STARTING -> CHECKING -> SERVING (reloading or not) -> STOPPING
 *        \___________\______________________________________^
 *   NEXT -> CHECKING             while another process is the service's main one, nobody listens to this one
 *   from anywhere to SILENT, once another process has taken over
 * </pre>
 *
 * <p>Any thread; carried out on {@code tidegate-systemd}. Where nobody is to be told, it does nothing and has no thread.
 */
final class SystemdNotice implements FileReloads.Observer, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SystemdNotice.class);

    /** How often what the process does is told anew, if it has changed, and time is asked for. */
    static final Duration TICK = Duration.ofSeconds(1);

    /** What is asked for each time. A process that hangs is killed that long after it last could ask. */
    static final Duration EXTENSION = Duration.ofSeconds(20);

    /** A start that takes longer than that gets no more time. */
    static final Duration START_PATIENCE = Duration.ofMinutes(5);

    /** So long the first checks of endpoints are waited for. */
    static final Duration CHECKS_PATIENCE = Duration.ofSeconds(30);

    /** Where the process stands, in what has been told. */
    private enum Phase {
        STARTING,
        NEXT,
        CHECKING,
        SERVING,
        STOPPING,
        SILENT
    }

    private final Notifier notifier;
    private final Ticker ticker;
    private final ScheduledExecutorService thread; // null: nobody is to be told
    private final long begunNanos;

    // the thread's:
    private Phase phase;
    private Vitals vitals; // null before it is up
    private boolean reloading;
    private boolean rejected;
    private StopTimes stop; // null before it stops
    private long waitsFor = -1; // the process before, which drains still; negative: for none
    private String told = "";

    private SystemdNotice(Notifier notifier, Ticker ticker, ScheduledExecutorService thread, Phase first) {
        this.phase = first;
        this.notifier = notifier;
        this.ticker = ticker;
        this.thread = thread;
        this.begunNanos = ticker.nanoTime();
    }

    /**
     * The process begins to start.
     *
     * @param environment looks up a variable; null for one that is not set
     * @param takesOver whether another is the service's main one until this is up
     */
    static SystemdNotice begin(UnaryOperator<String> environment, boolean takesOver) {
        Notifier notifier = Notifier.of(environment);
        return over(
                notifier,
                System::nanoTime,
                notifier.active()
                        ? Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("tidegate-systemd", true))
                        : null,
                takesOver);
    }

    /** The same, by that time and on that thread; null when nobody is to be told. */
    static SystemdNotice over(Notifier notifier, Ticker ticker, ScheduledExecutorService thread, boolean takesOver) {
        SystemdNotice notice = new SystemdNotice(notifier, ticker, thread, takesOver ? Phase.NEXT : Phase.STARTING);
        notice.repeat(TICK, notice::tick);
        return notice;
    }

    /**
     * The process is up: it listens and takes signals. It is told to be ready once endpoints have been checked for the first
     * time, where they are checked at all.
     */
    void up(Service service, UnaryOperator<String> environment) {
        if (thread == null) {
            return;
        }
        Proxy proxy = service.proxy();
        service.reloads().ifPresent(reloads -> reloads.observe(this));
        up(Vitals.of(proxy));
        var unused = proxy.stopBegun().thenAccept(this::stopping);
        WatchdogRequest.interval(environment, ProcessHandle.current().pid())
                .ifPresent(interval -> watchdog(interval, proxy::callRoll));
        StopTimeoutCheck.start(() -> proxy.config().process().shutdown().deadline());
    }

    /** Gives signs of life from now on, twice in that time, as long as all turn. */
    void watchdog(Duration interval, Function<Runnable, RollCall> roll) {
        Duration period = interval.dividedBy(2);
        repeat(period, new Heartbeat(roll, this::signOfLife, ticker, period.toNanos())::beat);
        log.info("signs of life for the watchdog interval={}", interval);
    }

    private void signOfLife() {
        post(() -> {
            if (phase != Phase.SILENT) {
                notifier.watchdog();
            }
        });
    }

    /** The process runs. */
    void up(Vitals now) {
        post(() -> upNow(now));
    }

    /** The process is on its way out. */
    void stopping(StopTimes times) {
        post(() -> stoppingNow(times));
    }

    /** Its own connections have ended, and it stays for those of the process that it has taken over from. */
    void waitsFor(long pid) {
        post(() -> waitsFor = pid);
    }

    /** Whether there is anybody to tell. */
    boolean active() {
        return thread != null;
    }

    /** Another process is the service from now on: it is named, and this one says no more. */
    void handedOver(long pid) {
        post(() -> {
            notifier.mainPid(pid);
            phase = Phase.SILENT;
        });
    }

    // ---- reloads

    @Override
    public void onBegin() {
        long beganNanos = ticker.nanoTime();
        post(() -> reloadBegins(beganNanos));
    }

    @Override
    public void onEnd(boolean inForce) {
        post(() -> reloadEnds(inForce));
    }

    private void reloadBegins(long beganNanos) {
        if (phase == Phase.SERVING) {
            reloading = true;
            // On Linux the JVM's monotonic time is the kernel's CLOCK_MONOTONIC, which systemd compares it with.
            told = NoticeText.reloading(vitals);
            notifier.reloading(told, TimeUnit.NANOSECONDS.toMicros(beganNanos));
        }
    }

    private void reloadEnds(boolean inForce) {
        rejected = !inForce;
        if (phase == Phase.SERVING && reloading) {
            reloading = false;
            ready();
        }
    }

    // ---- what happens, in its order

    private void upNow(Vitals now) {
        if (phase == Phase.STARTING || phase == Phase.NEXT) {
            vitals = now;
            phase = Phase.CHECKING;
            var unused = now.firstChecks().thenRun(() -> post(this::checksOver));
            postIn(CHECKS_PATIENCE, this::checksLate);
        }
    }

    private void checksOver() {
        if (phase == Phase.CHECKING) {
            phase = Phase.SERVING;
            ready();
        }
    }

    private void checksLate() {
        if (phase == Phase.CHECKING) {
            log.warn("told to be ready though the first checks are not over waited={}", CHECKS_PATIENCE);
            checksOver();
        }
    }

    private void ready() {
        told = NoticeText.serving(vitals, rejected);
        notifier.ready(told, ProcessHandle.current().pid());
    }

    private void stoppingNow(StopTimes times) {
        if (phase == Phase.SILENT) {
            return;
        }
        if (reloading) {
            reloading = false;
            ready(); // whoever waits for the reload need not wait for the end of the stop
        }
        phase = Phase.STOPPING;
        stop = times;
        told = stopText();
        notifier.stopping(told);
        tick();
    }

    private String stopText() {
        return NoticeText.stopping(vitals.connections(), stop, ticker.nanoTime())
                + (waitsFor < 0 ? "" : NoticeText.waitingFor(waitsFor));
    }

    /** Tells what has changed, and asks for time where it is needed. */
    private void tick() {
        switch (phase) {
            case STARTING -> {
                tell(NoticeText.STARTING);
                extend(ticker.nanoTime() - begunNanos < START_PATIENCE.toNanos());
            }
            case CHECKING -> {
                tell(NoticeText.CHECKING);
                extend(true);
            }
            case SERVING -> {
                if (!reloading) {
                    tell(NoticeText.serving(vitals, rejected));
                }
            }
            case STOPPING -> {
                tell(stopText());
                extend(ticker.nanoTime() - stop.overNanos() < 0);
            }
            case NEXT, SILENT -> {
                // another process speaks
            }
        }
    }

    private void tell(String text) {
        if (!text.equals(told)) {
            told = text;
            notifier.status(text);
        }
    }

    private void extend(boolean needed) {
        if (needed) {
            notifier.extendTimeout(EXTENSION);
        }
    }

    // ---- its thread

    /** With a fixed delay: what was missed while the process stood still is not made up for. */
    private void repeat(Duration period, Runnable step) {
        if (thread != null) {
            var unused = thread.scheduleWithFixedDelay(() -> guarded(step), 0, period.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void post(Runnable step) {
        postIn(Duration.ZERO, step);
    }

    private void postIn(Duration delay, Runnable step) {
        if (thread == null) {
            return;
        }
        try {
            var unused = thread.schedule(() -> guarded(step), delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException over) {
            log.debug("nothing more is told: the process ends");
        }
    }

    /** A fault would vanish in the task's future, and nothing be told any more. */
    private static void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException fault) {
            log.error("systemd was not told of something by a fault of our own", fault);
        }
    }

    /** Says no more. What was said is sent if that is possible within a second. */
    @Override
    public void close() {
        if (thread != null) {
            thread.shutdownNow();
        }
        notifier.close();
    }
}
