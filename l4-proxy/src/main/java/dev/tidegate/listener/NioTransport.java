package dev.tidegate.listener;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import jdk.net.ExtendedSocketOptions;

/**
 * The JDK's own selectors: everywhere, slower. It goes without {@code unacked}, and notices a reset only when it reads.
 * Any thread.
 */
final class NioTransport implements Transport {
    @Override
    public String name() {
        return "nio";
    }

    @Override
    public IoHandlerFactory ioHandlers() {
        return NioIoHandler.newFactory();
    }

    @Override
    public ServerSocketChannel openListener(InetAddress address, boolean v6Only, int unackedMillis) {
        return new NioServerSocketChannel(SelectorProvider.provider(), ChannelOptions.family(address));
    }

    @Override
    public boolean supportsV6Only() {
        return false;
    }

    @Override
    public boolean acceptsOtherFamily() {
        return false;
    }

    @Override
    public Channel open(InetSocketAddress target, ChannelHandler handler) {
        NioSocketChannel channel =
                new NioSocketChannel(SelectorProvider.provider(), ChannelOptions.family(target.getAddress()));
        ChannelOptions.relayed(channel.config());
        channel.pipeline().addLast(handler);
        return channel;
    }

    @Override
    public boolean missesResetWhenHalfClosed() {
        return false;
    }

    @Override
    public boolean missesResetWhenPaused() {
        return false;
    }

    @Override
    public boolean isDead(Channel channel) {
        return false;
    }

    @Override
    public long undelivered(Channel channel) {
        return 0;
    }

    /** Nothing is inherited from the listener here, so both sides are set. */
    @Override
    public void setLateOptions(Channel channel, boolean accepted, int unackedMillis) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
            channel.config()
                    .setOption(
                            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE),
                            ChannelOptions.KEEPALIVE_IDLE_SECONDS);
            channel.config()
                    .setOption(
                            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL),
                            ChannelOptions.KEEPALIVE_INTERVAL_SECONDS);
            channel.config()
                    .setOption(
                            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), ChannelOptions.KEEPALIVE_PROBES);
        }
    }
}
