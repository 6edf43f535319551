package dev.tidegate.listener;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.uring.IoUringBufferRingConfig;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringFixedBufferRingAllocator;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.channel.uring.IoUringTcpInfo;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Linux io_uring, reading into a ring of buffers that all connections of a worker share: an idle connection holds none.
 * Any thread.
 */
final class IoUringTransport implements Transport {
    private static final short BUFFER_GROUP = 1;
    private static final short RING_BUFFERS = 64;
    private static final short RING_BATCH = 16;
    private static final int RING_BUFFER_BYTES = 32 * 1024;
    private static final int RING_ENTRIES = 1024;
    private static final long LAST_COMPLETIONS_MILLIS = 50;

    private final boolean bufferRing;

    IoUringTransport(boolean bufferRing) {
        this.bufferRing = bufferRing;
    }

    @Override
    public String name() {
        return "io_uring";
    }

    @Override
    public IoHandlerFactory ioHandlers() {
        IoUringIoHandlerConfig config = new IoUringIoHandlerConfig().setRingSize(RING_ENTRIES);
        if (bufferRing) {
            config.setBufferRingConfig(IoUringBufferRingConfig.builder()
                    .bufferGroupId(BUFFER_GROUP)
                    .bufferRingSize(RING_BUFFERS)
                    .batchSize(RING_BATCH)
                    .allocator(new IoUringFixedBufferRingAllocator(ChannelOptions.ALLOCATOR, true, RING_BUFFER_BYTES))
                    .build());
        }
        return IoUringKeeper.newFactory(config);
    }

    @Override
    public ServerSocketChannel openListener(InetAddress address, boolean v6Only, int unackedMillis) {
        IoUringServerSocketChannel listener = new IoUringServerSocketChannel();
        ChannelOptions.inherited(listener, unackedMillis);
        if (v6Only) {
            listener.config().setOption(ChannelOptions.IPV6_V6ONLY, 1);
        }
        return listener;
    }

    @Override
    public long lastCompletionsMillis() {
        // It closes a socket by completions that its loop is still to see.
        return LAST_COMPLETIONS_MILLIS;
    }

    @Override
    public boolean supportsV6Only() {
        // Netty's io_uring sockets are IPv6 sockets, so that one for 0.0.0.0 has the whole port.
        return false;
    }

    @Override
    public boolean acceptsOtherFamily() {
        return true;
    }

    @Override
    public Channel open(InetSocketAddress target, ChannelHandler handler) {
        IoUringSocketChannel channel = new IoUringSocketChannel();
        relayed(channel);
        channel.pipeline().addLast(handler);
        return channel;
    }

    @Override
    public void prepareAccepted(Channel channel) {
        relayed(channel);
    }

    private void relayed(Channel channel) {
        ChannelOptions.relayed(channel.config());
        if (bufferRing) {
            channel.config().setOption(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID, BUFFER_GROUP);
        }
    }

    @Override
    public boolean missesResetWhenHalfClosed() {
        return true;
    }

    @Override
    public boolean missesResetWhenPaused() {
        return true;
    }

    @Override
    public boolean isDead(Channel channel) {
        return channel.isOpen()
                && ((IoUringSocketChannel) channel)
                                .tcpInfo(new IoUringTcpInfo())
                                .state()
                        == ChannelOptions.TCP_CLOSE;
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
