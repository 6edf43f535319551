package dev.tidegate.listener;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.channel.socket.ServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Linux epoll. Any thread. */
final class EpollTransport implements Transport {
    @Override
    public String name() {
        return "epoll";
    }

    @Override
    public IoHandlerFactory ioHandlers() {
        return EpollKeeper.newFactory();
    }

    @Override
    public ServerSocketChannel openListener(InetAddress address, boolean v6Only, int unackedMillis) {
        EpollServerSocketChannel listener = new EpollServerSocketChannel(ChannelOptions.family(address));
        ChannelOptions.inherited(listener, unackedMillis);
        if (v6Only) {
            listener.config().setOption(ChannelOptions.IPV6_V6ONLY, 1);
        }
        return listener;
    }

    @Override
    public boolean adoptsListeners() {
        return true;
    }

    @Override
    public ServerSocketChannel adoptListener(int fd, int unackedMillis) {
        EpollServerSocketChannel listener = new EpollServerSocketChannel(fd);
        ChannelOptions.inherited(listener, unackedMillis);
        return listener;
    }

    @Override
    public boolean supportsV6Only() {
        return true;
    }

    @Override
    public boolean acceptsOtherFamily() {
        return false;
    }

    @Override
    public Channel open(InetSocketAddress target, ChannelHandler handler) {
        EpollSocketChannel channel = new EpollSocketChannel(ChannelOptions.family(target.getAddress()));
        ChannelOptions.relayed(channel.config());
        channel.pipeline().addLast(handler);
        return channel;
    }

    /** A reset after a FIN is not reported before something is written, and the loop is woken by it without end. */
    @Override
    public boolean missesResetWhenHalfClosed() {
        return true;
    }

    @Override
    public boolean missesResetWhenPaused() {
        return false;
    }

    @Override
    public boolean isDead(Channel channel) {
        return channel.isOpen()
                && ((EpollSocketChannel) channel).tcpInfo(new EpollTcpInfo()).state() == ChannelOptions.TCP_CLOSE;
    }

    @Override
    public long undelivered(Channel channel) {
        return ChannelOptions.undelivered(channel);
    }

    @Override
    public void setLateOptions(Channel channel, boolean accepted, int unackedMillis) {
        if (!accepted && channel.isOpen()) {
            ChannelOptions.late(channel, unackedMillis);
        }
    }
}
