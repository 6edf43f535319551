package dev.tidegate.listener;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.uring.IoUringIoEvent;
import io.netty.channel.uring.IoUringIoHandle;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.util.concurrent.TimeUnit;

/**
 * io_uring that wakes a blocked write after its peer's FIN. The kernel adds POLLRDHUP to whatever a poll asks for, so that
 * from the FIN on a poll for POLLOUT completes at once, with POLLRDHUP alone. Netty (4.2.18) does not take that for the poll
 * it waits for, and never writes again. Since no poll can tell any more when the socket takes bytes, the write is tried
 * again after a pause, which grows while nothing moves.
 *
 * <p>Confined to its worker's loop, save for what {@link IoHandler} lets others call.
 */
final class IoUringKeeper implements IoHandler {
    private static final byte OP_WRITEV = 2;
    private static final byte OP_POLL_ADD = 6;
    private static final byte OP_SEND = 26;

    private static final int POLLIN = 0x1;
    private static final int POLLOUT = 0x4;

    private static final long FIRST_PAUSE_MILLIS = 1;
    private static final long LONGEST_PAUSE_MILLIS = 32;

    private final IoHandler ring;
    private final EventExecutor loop;

    private IoUringKeeper(IoHandler ring, EventExecutor loop) {
        this.ring = ring;
        this.loop = loop;
    }

    static IoHandlerFactory newFactory(IoUringIoHandlerConfig config) {
        IoHandlerFactory plain = IoUringIoHandler.newFactory(config);
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new IoUringKeeper(plain.newHandler(executor), (EventExecutor) executor);
            }

            @Override
            public boolean isChangingThreadSupported() {
                return plain.isChangingThreadSupported();
            }
        };
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return ring.register(new Kept((IoUringIoHandle) handle, loop));
    }

    @Override
    public void initialize() {
        ring.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return ring.run(context);
    }

    @Override
    public void prepareToDestroy() {
        ring.prepareToDestroy();
    }

    @Override
    public void destroy() {
        ring.destroy();
    }

    @Override
    public void wakeup() {
        ring.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return ring.isCompatible(handleType);
    }

    /** A channel's end of its registration, told of POLLOUT when it would otherwise not be. */
    private static final class Kept implements IoUringIoHandle {
        private final IoUringIoHandle handle;
        private final EventExecutor loop;
        private boolean peerEnded;
        private boolean waiting;
        private long pauseMillis = FIRST_PAUSE_MILLIS;

        Kept(IoUringIoHandle handle, EventExecutor loop) {
            this.handle = handle;
            this.loop = loop;
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            IoUringIoEvent done = (IoUringIoEvent) event;
            if (done.opcode() == OP_POLL_ADD && done.res() >= 0 && (done.res() & (POLLIN | POLLOUT)) == 0) {
                onPollOfEnd(registration, done);
                return;
            }
            if (peerEnded && done.res() > 0 && (done.opcode() == OP_SEND || done.opcode() == OP_WRITEV)) {
                pauseMillis = FIRST_PAUSE_MILLIS;
            }
            handle.handle(registration, event);
        }

        private void onPollOfEnd(IoRegistration registration, IoUringIoEvent done) {
            if (!peerEnded) {
                // The first may have been the poll for POLLRDHUP itself; later ones are all polls for POLLOUT.
                peerEnded = true;
                handle.handle(registration, done);
            }
            if (writes() && !waiting) {
                waiting = true;
                loop.schedule(() -> tryAgain(registration), pauseMillis, TimeUnit.MILLISECONDS);
                pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
            }
        }

        private void tryAgain(IoRegistration registration) {
            waiting = false;
            if (registration.isValid()) {
                handle.handle(registration, new IoUringIoEvent(POLLOUT, 0, OP_POLL_ADD, 0L));
            }
        }

        private boolean writes() {
            if (handle instanceof Channel.Unsafe channel) {
                ChannelOutboundBuffer queue = channel.outboundBuffer();
                return queue != null && !queue.isEmpty();
            }
            return false;
        }

        @Override
        public void registered() {
            handle.registered();
        }

        @Override
        public void unregistered() {
            handle.unregistered();
        }

        @Override
        public void close() {
            try {
                handle.close();
            } catch (Exception fault) {
                throw new IllegalStateException("cannot close " + handle, fault);
            }
        }
    }
}
