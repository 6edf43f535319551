package dev.tidegate.bench;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.util.concurrent.ThreadAwareExecutor;

/**
 * Netty's epoll, save that a socket which waits for nothing stays in the epoll set. Confined to its loop.
 *
 * <p>After a FIN a half-closed channel waits for nothing until a write blocks. Netty 4.2.18 takes the socket out of the
 * set then, but remembers it as being in: the next change of interest fails with ENOENT in the middle of a write, which
 * Netty answers by shutting the output down. The peer sees a clean end after a part of the stream. Edge-triggered interest
 * in nothing keeps the socket in the set and wakes nobody up again and again.
 */
final class HalfCloseSafeEpoll implements IoHandler {
    private final IoHandler epoll;

    private HalfCloseSafeEpoll(IoHandler epoll) {
        this.epoll = epoll;
    }

    static IoHandlerFactory newFactory() {
        IoHandlerFactory epoll = EpollIoHandler.newFactory();
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new HalfCloseSafeEpoll(epoll.newHandler(executor));
            }

            @Override
            public boolean isChangingThreadSupported() {
                return epoll.isChangingThreadSupported();
            }
        };
    }

    @Override
    public void initialize() {
        epoll.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return epoll.run(context);
    }

    @Override
    public void prepareToDestroy() {
        epoll.prepareToDestroy();
    }

    @Override
    public void destroy() {
        epoll.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return new StayingRegistration(epoll.register(handle));
    }

    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return epoll.isCompatible(handleType);
    }

    private static final class StayingRegistration implements IoRegistration {
        private final IoRegistration registration;
        private boolean added;

        StayingRegistration(IoRegistration registration) {
            this.registration = registration;
        }

        @Override
        public long submit(IoOps ops) {
            if (EpollIoOps.NONE.equals(ops)) {
                // Before the first interest the socket is not in the set, and Netty knows that.
                return added ? registration.submit(EpollIoOps.EPOLLET) : registration.submit(ops);
            }
            added = true;
            return registration.submit(ops);
        }

        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // the interface has it so
        public <T> T attachment() {
            return registration.attachment();
        }

        @Override
        public boolean isValid() {
            return registration.isValid();
        }

        @Override
        public boolean cancel() {
            return registration.cancel();
        }
    }
}
