package dev.tidegate.testkit;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.concurrent.Ticker;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A Netty event loop that turns only when the test turns it: real loopback sockets, fake time.
 *
 * <pre>{@code
 * try (HandCrankedLoop loop = HandCrankedLoop.epoll()) {
 *     Channel server = loop.await(bootstrap(loop.eventLoop()).bind(loopback, 0)).channel();
 *     loop.runUntil("the client is accepted", () -> accepted == 1);
 *     loop.advance(Duration.ofHours(1));   // idle timers fire, in order, each at its time
 * }
 * }</pre>
 *
 * <p>The thread that makes it is the loop's thread: code under test sees {@code inEventLoop()} true, and only this thread
 * may call the methods here. Works over nio, epoll and io_uring.
 */
public final class HandCrankedLoop implements AutoCloseable {
    private static final int TURNS_MAX = 10_000;
    private static final long PAUSE_NANOS = 50_000;

    private final MockTicker ticker = Ticker.newMockTicker();
    private final LoopTime time = new LoopTime(ticker);
    private final Registry registry;
    private final Loop loop;

    private HandCrankedLoop(IoHandlerFactory io) {
        registry = new Registry(io);
        loop = new Loop(Thread.currentThread(), registry, time);
    }

    /** Over the JDK's selector. */
    public static HandCrankedLoop nio() {
        return over(NioIoHandler.newFactory());
    }

    /** Over epoll; its native library must be on the class path. */
    public static HandCrankedLoop epoll() {
        return over(EpollIoHandler.newFactory());
    }

    /** Over io_uring; its native library must be on the class path and the kernel must allow it. */
    public static HandCrankedLoop ioUring() {
        return over(IoUringIoHandler.newFactory());
    }

    /** Over any transport. */
    public static HandCrankedLoop over(IoHandlerFactory io) {
        return new HandCrankedLoop(io);
    }

    /** What channels register with. */
    public IoEventLoop eventLoop() {
        return loop;
    }

    /** The fake time of this loop; starts at 0. Move it by {@link #advance}. */
    public Ticker ticker() {
        return ticker;
    }

    /**
     * Turns the loop until a turn finds nothing to do: no ready socket, no task, no timer that is due.
     *
     * <p>A turn runs all tasks that are queued, those that they queue too: a task that queues itself again without end never
     * lets it return.
     *
     * @throws AssertionError when it has not come to rest after 10,000 turns: a socket that is always ready spins
     */
    public void runReady() {
        for (int turn = 0; turn < TURNS_MAX; turn++) {
            if (loop.runNow() == 0) {
                return;
            }
        }
        throw new AssertionError("the loop had work in each of " + TURNS_MAX + " turns: something spins");
    }

    /** Turns the loop, time standing still, until the condition holds; at most 10 s of real time. */
    public void runUntil(String what, BooleanSupplier holds) {
        runUntil(what, holds, Await.BOUND);
    }

    /** Turns the loop, time standing still, until the condition holds; at most {@code bound} of real time. */
    public void runUntil(String what, BooleanSupplier holds, Duration bound) {
        long deadlineNanos = System.nanoTime() + bound.toNanos();
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() - deadlineNanos >= 0) {
                throw new AssertionError("still not so after " + Await.words(bound) + " of turning the loop: " + what);
            }
            if (loop.runNow() == 0) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** Turns the loop until the future is done; gives it back if it succeeded and fails with its cause if not. */
    public <F extends Future<?>> F await(F future) {
        runUntil("done: " + future, future::isDone);
        if (!future.isSuccess()) {
            throw new AssertionError("failed: " + future, future.cause());
        }
        return future;
    }

    /**
     * Moves time on by {@code by}, from timer to timer, and runs each when it is due, with what becomes ready in between.
     * A timer that a timer sets fires too if it falls within.
     */
    public void advance(Duration by) {
        runReady();
        long targetNanos = ticker.nanoTime() + by.toNanos();
        for (long left = by.toNanos(); left > 0; left = targetNanos - ticker.nanoTime()) {
            long next = loop.nanosToNextTimer();
            ticker.advance(next < 0 ? left : Math.min(left, Math.max(next, 1)), TimeUnit.NANOSECONDS);
            runReady();
        }
    }

    /** Moves time on by {@code by} without a turn, as on a machine that stands still: what was due in it is late. */
    public void standStill(Duration by) {
        ticker.advance(by.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Whether a timer is set that has not fired yet, Netty's own included. */
    public boolean hasTimers() {
        return loop.nanosToNextTimer() >= 0;
    }

    /** Closes every channel of the loop and ends it. Repeats do nothing. */
    @Override
    public void close() {
        if (loop.isTerminated()) {
            return;
        }
        // Netty's own shutdown may leave descriptors of io_uring open: it does not wait for closes under way.
        registry.closeAll();
        runUntil("every channel is closed: " + registry, registry::isEmpty);
        // The quiet period, even of 0, ends only when the loop's own time has moved; until then it sleeps for 100 ms.
        time.moveByItself();
        loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
        runUntil("the loop has ended", loop::isTerminated);
    }

    @Override
    public String toString() {
        return "HandCrankedLoop[" + Duration.ofNanos(ticker.nanoTime()) + "]";
    }

    /** Makes the transport's handler and remembers what registers with it, so that it can be closed. */
    private static final class Registry implements IoHandlerFactory {
        private final IoHandlerFactory factory;
        private final IdentityHashMap<IoHandle, IoRegistration> registrations = new IdentityHashMap<>();

        Registry(IoHandlerFactory factory) {
            this.factory = factory;
        }

        @Override
        public IoHandler newHandler(ThreadAwareExecutor executor) {
            IoHandler handler = factory.newHandler(executor);
            return new IoHandler() {
                @Override
                public void initialize() {
                    handler.initialize();
                }

                @Override
                public int run(IoHandlerContext context) {
                    return handler.run(context);
                }

                @Override
                public void prepareToDestroy() {
                    handler.prepareToDestroy();
                }

                @Override
                public void destroy() {
                    handler.destroy();
                }

                @Override
                public IoRegistration register(IoHandle handle) throws Exception {
                    IoRegistration registration = handler.register(handle);
                    isEmpty();
                    registrations.put(handle, registration);
                    return registration;
                }

                @Override
                public void wakeup() {
                    handler.wakeup();
                }

                @Override
                public boolean isCompatible(Class<? extends IoHandle> handleType) {
                    return handler.isCompatible(handleType);
                }
            };
        }

        /** Forgets those that have ended. */
        boolean isEmpty() {
            registrations.values().removeIf(registration -> !registration.isValid());
            return registrations.isEmpty();
        }

        void closeAll() {
            for (IoHandle handle : List.copyOf(registrations.keySet())) {
                try {
                    handle.close();
                } catch (Exception e) {
                    throw new IllegalStateException("closing " + handle + " failed", e);
                }
            }
        }

        @Override
        public String toString() {
            return registrations.keySet().toString();
        }
    }

    /** The fake time, which in the end goes on with each look at it. */
    private static final class LoopTime implements Ticker {
        private final Ticker ticker;
        private long stepNanos;
        private long movedNanos;

        LoopTime(Ticker ticker) {
            this.ticker = ticker;
        }

        void moveByItself() {
            stepNanos = 1;
        }

        @Override
        public long initialNanoTime() {
            return ticker.initialNanoTime();
        }

        @Override
        public long nanoTime() {
            movedNanos += stepNanos;
            return ticker.nanoTime() + movedNanos;
        }

        @Override
        public void sleep(long delay, TimeUnit unit) throws InterruptedException {
            ticker.sleep(delay, unit);
        }
    }

    /** Opens what Netty keeps for subclasses. */
    private static final class Loop extends ManualIoEventLoop {
        Loop(Thread owner, IoHandlerFactory io, Ticker ticker) {
            super(null, owner, io, ticker);
        }

        /** -1 when none is set. */
        long nanosToNextTimer() {
            return nextScheduledTaskNano();
        }
    }
}
