package dev.tidegate.health;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.socket.SocketChannel;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Opens the checks' sockets, and knows those that are open. Any thread; events come on the loop. */
final class SocketConnector {
    private static final byte[] PROXY_V1 = "PROXY UNKNOWN\r\n".getBytes(StandardCharsets.US_ASCII);
    /** The signature, version 2 with the command LOCAL, no family, nothing more. */
    private static final byte[] PROXY_V2 = HexFormat.of().parseHex("0d0a0d0a000d0a515549540a" + "20" + "00" + "0000");

    private final EventLoop loop;
    private final Supplier<? extends SocketChannel> sockets;
    private final Set<Channel> open = ConcurrentHashMap.newKeySet();

    SocketConnector(EventLoop loop, Supplier<? extends SocketChannel> sockets) {
        this.loop = loop;
        this.sockets = sockets;
    }

    /** Connects as that target wants it. */
    ProbeContext.Connector to(Target target) {
        return (address, handler) -> connect(target, address, handler);
    }

    /** Sockets that are not closed yet. */
    int openCount() {
        return open.size();
    }

    private ChannelFuture connect(Target target, InetSocketAddress address, ChannelHandler handler) {
        SocketChannel channel;
        try {
            channel = sockets.get();
        } catch (RuntimeException e) {
            return withoutSocket(e);
        }
        open.add(channel);
        channel.closeFuture().addListener(closed -> open.remove(channel));
        // Whoever runs the probe cancels it in time; a time-out of the socket's own would pass in a stall.
        channel.config().setOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0);
        channel.config().setOption(ChannelOption.TCP_NODELAY, true);
        InetSocketAddress source = target.source();
        if (source != null && source.getPort() == 0) {
            // Binding alone would take a port from all targets' share; nio has no such option and says so by false.
            channel.config().setOption(EpollChannelOption.IP_BIND_ADDRESS_NO_PORT, true);
        }
        ChannelPromise promise = new DefaultChannelPromise(channel, loop);
        channel.pipeline().addLast(new Opener(target.greeting(), promise), handler);
        loop.register(channel).addListener(registered -> {
            if (registered.isSuccess()) {
                // Later, so that the caller can listen before anything happens.
                loop.execute(() -> start(channel, address, source, promise));
            } else {
                promise.tryFailure(registered.cause());
            }
        });
        return promise;
    }

    private static void start(
            SocketChannel channel, InetSocketAddress address, InetSocketAddress source, ChannelPromise promise) {
        if (source != null && isV6(source) != isV6(address)) {
            // The system would speak of an unreachable network, as if the target were to blame.
            promise.tryFailure(new OtherFamilyException(source, address));
            channel.close();
            return;
        }
        channel.connect(address, source).addListener(connect -> {
            if (!connect.isSuccess()) {
                promise.tryFailure(connect.cause());
                channel.close();
            }
        });
    }

    private static boolean isV6(InetSocketAddress address) {
        return address.getAddress() instanceof Inet6Address;
    }

    /** No descriptor is left: the future needs a channel all the same, one that is closed and has none. */
    private ChannelFuture withoutSocket(RuntimeException fault) {
        EmbeddedChannel none = new EmbeddedChannel();
        none.close();
        return new DefaultChannelPromise(none, loop).setFailure(fault);
    }

    /** Sends the greeting; only then the connect has succeeded, for all that listen. */
    private static final class Opener extends ChannelInboundHandlerAdapter {
        private final Target.Greeting greeting;
        private final ChannelPromise promise;

        Opener(Target.Greeting greeting, ChannelPromise promise) {
            this.greeting = greeting;
            this.promise = promise;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            // So few bytes always fit into a socket that has sent nothing yet; the rest happens behind them.
            switch (greeting) {
                case NONE -> {}
                case PROXY_V1 -> ctx.writeAndFlush(Unpooled.wrappedBuffer(PROXY_V1));
                case PROXY_V2 -> ctx.writeAndFlush(Unpooled.wrappedBuffer(PROXY_V2));
            }
            ctx.pipeline().remove(this);
            promise.trySuccess();
            if (ctx.channel().isActive()) {
                ctx.fireChannelActive();
            }
        }
    }
}
