package dev.tidegate.health;

import dev.tidegate.health.probe.ExecProbe;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks targets, each in its own rhythm, and tells a {@link HealthListener} what it finds. Any thread.
 *
 * <p>It has an event loop of its own, of one thread named {@code tidegate-health}: load elsewhere delays no check.
 *
 * <ul>
 *   <li>A target is checked at once when it is new or asked something new, then at its interval, at its fast interval
 *       while results speak for a change or nothing is known yet. Checks of one target never overlap.
 *   <li>Starts are spread: in any 100 ms at most twice what all targets need on average, and 10 in any case. A target's
 *       regular checks have a phase of their own, drawn from the whole interval; checks out of turn do not move it, so that
 *       targets that came together, or failed together, do not fall into step. When more are due than may start, the most
 *       urgent starts first: the one that would soonest be late by its own interval.
 *   <li>Time is monotonic and stands still while the process does: a stopped process finds no check timed out and no
 *       backlog when it goes on, and reads first what has come meanwhile.
 *   <li>A target without an address (none, not resolved, port 0) is not checked and keeps its condition.
 *   <li>Of several addresses each is tried until one passes; each has the whole time-out. If none passes, the best word
 *       counts: not ready, then void, then fail.
 *   <li>A check that waits for its turn on this side has its whole time-out from then on. One whose turn does not come within
 *       its interval, or its time-out if that is longer, is {@link Word#VOID}, as below.
 *   <li>A check that fails for want of descriptors, source ports or memory on this side, or because it is broken itself, is
 *       {@link Word#VOID}: it is in the history and is told, and counts for nothing. Such checks are logged at WARN, one line
 *       a minute for each backend; what is broken at ERROR, once, with its stack trace.
 * </ul>
 */
public final class HealthChecker implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HealthChecker.class);
    private static final String THREAD = "tidegate-health";
    /** What ends politely after its check needs at most a second. */
    private static final int ENDINGS_TICKS = 120;

    private static final long THREAD_END_MILLIS = 3_000;

    private final EventLoop loop;
    private final SocketConnector connector;
    private final Checks checks;
    // Confined to the loop.
    private ScheduledFuture<?> nextTick;
    private boolean closing;

    /**
     * How sockets are had.
     *
     * @param handlers what the event loop does I/O with
     * @param sockets makes the sockets that fit it
     */
    public record Io(IoHandlerFactory handlers, Supplier<? extends SocketChannel> sockets) {
        /** Epoll where it is available, else the JDK's. */
        public static Io best() {
            return Epoll.isAvailable() ? epoll() : nio();
        }

        /** Linux's epoll. */
        public static Io epoll() {
            return new Io(EpollIoHandler.newFactory(), EpollSocketChannel::new);
        }

        /** The JDK's selector. */
        public static Io nio() {
            return new Io(NioIoHandler.newFactory(), NioSocketChannel::new);
        }
    }

    /**
     * What a checker works with.
     *
     * @param nanoTime monotonic; all intervals and time-outs go by it
     * @param clock on the wall, for what is shown; nothing goes by it
     * @param random for jitter; used on the checks' loop only
     * @param io how sockets are had
     */
    public record Settings(LongSupplier nanoTime, InstantSource clock, RandomGenerator random, Io io) {}

    /**
     * Starts the loop; nothing is checked yet.
     *
     * @param listener is told each verdict, on the checks' loop; must not block
     */
    public HealthChecker(Settings settings, HealthListener listener) {
        this(settings, listener, newLoop(settings.io));
    }

    /**
     * On a loop that somebody else turns.
     *
     * @param loop fits the settings' sockets; ended by {@link #close}, of which its own thread does not wait for the end
     */
    public HealthChecker(Settings settings, HealthListener listener, EventLoop loop) {
        this.loop = loop;
        connector = new SocketConnector(loop, settings.io.sockets);
        checks = new Checks(
                new StallProofTime(settings.nanoTime), settings.clock, settings.random, listener, loop, connector::to);
    }

    private static EventLoop newLoop(Io io) {
        return new MultiThreadIoEventLoopGroup(1, HealthChecker::newThread, io.handlers).next();
    }

    private static Thread newThread(Runnable task) {
        Thread thread = new FastThreadLocalThread(task, THREAD);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * These are the targets from now on. One that is known by its id and is not changed goes on undisturbed; a changed one
     * keeps its condition and history, and its row of results if its probe is equal, and is checked at once if it is asked
     * something else or elsewhere; one that is not among them is forgotten, a check of it that is under way is cancelled.
     * Returns at once. Without effect after {@link #close}.
     *
     * @throws IllegalArgumentException when two have the same id
     */
    public void follow(Collection<Target> targets) {
        List<Target> copy = List.copyOf(targets);
        Set<String> ids = new HashSet<>();
        for (Target target : copy) {
            if (!ids.add(target.id())) {
                throw new IllegalArgumentException(
                        "two targets have the id \"" + target.id() + "\"; an id names one target");
            }
        }
        post(() -> checks.follow(copy));
    }

    /**
     * Checks that target soon: at once, or right after the check that is under way, but at the earliest 100 ms after its
     * last check's start. Returns at once. Without effect when it is unknown, or after {@link #close}.
     */
    public void recheck(String id) {
        post(() -> checks.recheck(id));
    }

    /** The last 20 verdicts about that target, oldest first; none when it is unknown. */
    public List<Verdict> history(String id) {
        return checks.history(id);
    }

    /**
     * Is done when each target that has an address now, after all that was {@link #follow followed} before this call, and
     * has not been checked yet has had its first check, or was removed, or has lost its address. Cancelled by
     * {@link #close} if that was not so. Completed on the checks' loop.
     */
    public CompletableFuture<Void> firstRoundOver() {
        CompletableFuture<Void> over = new CompletableFuture<>();
        try {
            loop.execute(() -> checks.awaitFirstRound(over));
        } catch (RejectedExecutionException e) {
            LOG.debug("nobody is checked any more", e);
            over.cancel(false);
        }
        return over;
    }

    private void post(Runnable change) {
        try {
            loop.execute(() -> {
                if (!closing) {
                    change.run();
                    tick();
                }
            });
        } catch (RejectedExecutionException e) {
            LOG.debug("a change comes after the end and is without effect", e);
        }
    }

    private void tick() {
        if (nextTick != null) {
            nextTick.cancel(false);
            nextTick = null;
        }
        if (closing) {
            return;
        }
        long waitNanos = tickChecks();
        if (waitNanos < StallProofTime.FOREVER) {
            nextTick = loop.schedule(this::tick, waitNanos, TimeUnit.NANOSECONDS);
        }
    }

    /** A bug may cost one tick, not all checks. */
    private long tickChecks() {
        try {
            return checks.tick();
        } catch (Throwable e) {
            LOG.error("a tick of the checks failed; the next one follows", e);
            return Checks.TICK_NANOS;
        }
    }

    /**
     * Cancels every check, lets polite endings come to their end, and ends the loop. Waits for its thread and for programs to be
     * killed, at most 3 s each, unless called on it. Repeats do nothing.
     */
    @Override
    public void close() {
        try {
            loop.execute(this::end);
        } catch (RejectedExecutionException e) {
            LOG.debug("closed before", e);
        }
        if (!loop.inEventLoop() && !awaitEnd()) {
            LOG.warn("the checks have not ended: thread={} waited_ms={}", THREAD, THREAD_END_MILLIS);
        }
    }

    private void end() {
        if (closing) {
            return;
        }
        closing = true;
        tick();
        checks.end();
        awaitEndings(ENDINGS_TICKS);
    }

    private void awaitEndings(int ticksLeft) {
        if (connector.openCount() == 0 || ticksLeft == 0) {
            loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
        } else {
            loop.schedule(() -> awaitEndings(ticksLeft - 1), Checks.TICK_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    private boolean awaitEnd() {
        try {
            return loop.awaitTermination(THREAD_END_MILLIS, TimeUnit.MILLISECONDS)
                    && ExecProbe.awaitKills(THREAD_END_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
