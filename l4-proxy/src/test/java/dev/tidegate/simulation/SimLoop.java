package dev.tidegate.simulation;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Ticker;
import java.util.concurrent.Callable;

/**
 * An event loop that turns when the simulation turns it. All loops of a simulation belong to the one thread that runs it.
 *
 * <p>What one part waits for another to do ({@code submit}) is done at once: the one that waits would do nothing meanwhile.
 */
final class SimLoop extends ManualIoEventLoop {
    /** What a loop does I/O with that has none: sockets here are read by tasks. */
    static final IoHandlerFactory NO_IO = executor -> new IoHandler() {
        @Override
        public void initialize() {}

        @Override
        public int run(IoHandlerContext context) {
            // Whoever measures turns wants to hear when one begins.
            context.shouldReportActiveIoTime();
            return 0;
        }

        @Override
        public void prepareToDestroy() {}

        @Override
        public void destroy() {}

        @Override
        public IoRegistration register(IoHandle handle) {
            throw new UnsupportedOperationException("nothing registers here, not even " + handle);
        }

        @Override
        public void wakeup() {}

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return false;
        }
    };

    private final String name;

    SimLoop(String name, IoHandlerFactory io, Ticker time) {
        super(null, Thread.currentThread(), io, time);
        this.name = name;
    }

    @Override
    public Future<?> submit(Runnable task) {
        try {
            task.run();
            return newSucceededFuture(null);
        } catch (RuntimeException fault) {
            return newFailedFuture(fault);
        }
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        try {
            return newSucceededFuture(task.call());
        } catch (Exception fault) {
            return newFailedFuture(fault);
        }
    }

    /** -1 when no timer is set. */
    long nanosToNextTimer() {
        return nextScheduledTaskNano();
    }

    @Override
    public String toString() {
        return name;
    }
}
