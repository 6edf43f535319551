package dev.tidegate.listener;

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
 * Epoll that keeps a socket in its set while the channel asks for no event. Netty (4.2.18) takes it out then and yet
 * believes it in: a channel whose input has ended, and which must later wait to write, fails with ENOENT, and its last bytes
 * are lost. A socket kept here is asked after edge-triggered, with no event named: an error wakes the loop once, not
 * without end.
 *
 * <p>Confined to its worker's loop, save for what {@link IoHandler} lets others call.
 */
final class EpollKeeper implements IoHandler {
    private final IoHandler epoll;

    private EpollKeeper(IoHandler epoll) {
        this.epoll = epoll;
    }

    static IoHandlerFactory newFactory() {
        IoHandlerFactory plain = EpollIoHandler.newFactory();
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new EpollKeeper(plain.newHandler(executor));
            }

            @Override
            public boolean isChangingThreadSupported() {
                return plain.isChangingThreadSupported();
            }
        };
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return new Kept(epoll.register(handle));
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
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return epoll.isCompatible(handleType);
    }

    private static final class Kept implements IoRegistration {
        private final IoRegistration registration;

        Kept(IoRegistration registration) {
            this.registration = registration;
        }

        @Override
        public long submit(IoOps ops) {
            return registration.submit(EpollIoOps.NONE.equals(ops) ? EpollIoOps.EPOLLET : ops);
        }

        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // Netty's signature
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
