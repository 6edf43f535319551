package dev.tidegate.worker;

import dev.tidegate.telemetry.Histogram;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;

/**
 * Measures how long each turn of an event loop spends on I/O, and tells when one begins, by standing between the loop and
 * its transport.
 *
 * <p>Confined to its worker's loop. Hot: runs once a turn.
 */
final class TurnMeter implements IoHandler {
    private final IoHandler transport;
    private final Histogram histogram;
    private final Runnable beforeIo;
    private final MeteredContext metered = new MeteredContext();

    private TurnMeter(IoHandler transport, Histogram histogram, Runnable beforeIo) {
        this.transport = transport;
        this.histogram = histogram;
        this.beforeIo = beforeIo;
    }

    /**
     * A factory that makes metered handlers.
     *
     * @param beforeIo run when the loop has waited and something is ready, before any of that is read
     */
    static IoHandlerFactory around(IoHandlerFactory transport, Histogram histogram, Runnable beforeIo) {
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new TurnMeter(transport.newHandler(executor), histogram, beforeIo);
            }

            @Override
            public boolean isChangingThreadSupported() {
                return transport.isChangingThreadSupported();
            }
        };
    }

    @Override
    public int run(IoHandlerContext context) {
        metered.loop = context;
        return transport.run(metered);
    }

    @Override
    public void initialize() {
        transport.initialize();
    }

    @Override
    public void prepareToDestroy() {
        transport.prepareToDestroy();
    }

    @Override
    public void destroy() {
        transport.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return transport.register(handle);
    }

    @Override
    public void wakeup() {
        transport.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return transport.isCompatible(handleType);
    }

    /** The loop's context, save that active time is reported here too. */
    private final class MeteredContext implements IoHandlerContext {
        private IoHandlerContext loop;

        @Override
        public boolean canBlock() {
            return loop.canBlock();
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return loop.delayNanos(currentTimeNanos);
        }

        @Override
        public long deadlineNanos() {
            return loop.deadlineNanos();
        }

        @Override
        public void reportActiveIoTime(long activeNanos) {
            histogram.add(activeNanos);
            loop.reportActiveIoTime(activeNanos);
        }

        /** Each transport asks when its wait is over, just before it handles what is ready. */
        @Override
        public boolean shouldReportActiveIoTime() {
            beforeIo.run();
            return true;
        }
    }
}
