package dev.tidegate.bench;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringBufferRingConfig;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringFixedBufferRingAllocator;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.util.Arrays;
import java.util.stream.Collectors;

/** One of Netty's three ways to the kernel, by the word that the configuration uses for it. Immutable. */
enum Transport {
    IO_URING("io_uring"),
    EPOLL("epoll"),
    NIO("nio");

    private static final short BUFFER_GROUP = 0;
    private static final short BUFFER_RING_ENTRIES = 64;
    private static final int BUFFER_RING_BATCH = 16;

    private final String word;

    Transport(String word) {
        this.word = word;
    }

    /** The transport that {@code word} names; throws {@link IllegalArgumentException} saying which there are. */
    static Transport named(String word) {
        for (Transport transport : values()) {
            if (transport.word.equals(word)) {
                return transport;
            }
        }
        throw new IllegalArgumentException("transport \"" + word + "\" is not known; use one of "
                + Arrays.stream(values()).map(Transport::word).collect(Collectors.joining(", ")));
    }

    String word() {
        return word;
    }

    boolean isAvailable() {
        return switch (this) {
            case IO_URING -> IoUring.isAvailable();
            case EPOLL -> Epoll.isAvailable();
            case NIO -> true;
        };
    }

    /** What a loop does its I/O with. io_uring reads into a ring of buffers that the kernel picks from. */
    IoHandlerFactory ioHandlerFactory(int readBytes) {
        return switch (this) {
            case IO_URING ->
                IoUringIoHandler.newFactory(new IoUringIoHandlerConfig().setBufferRingConfig(bufferRing(readBytes)));
            case EPOLL -> HalfCloseSafeEpoll.newFactory();
            case NIO -> NioIoHandler.newFactory();
        };
    }

    Class<? extends ServerChannel> serverChannelClass() {
        return switch (this) {
            case IO_URING -> IoUringServerSocketChannel.class;
            case EPOLL -> EpollServerSocketChannel.class;
            case NIO -> NioServerSocketChannel.class;
        };
    }

    /** A new channel, neither registered nor connected. */
    SocketChannel newSocketChannel() {
        return switch (this) {
            case IO_URING -> new IoUringSocketChannel();
            case EPOLL -> new EpollSocketChannel();
            case NIO -> new NioSocketChannel();
        };
    }

    /** Sets what only this transport has: on io_uring, the buffer ring to read into. */
    void configure(SocketChannel channel) {
        if (this == IO_URING) {
            channel.config().setOption(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID, BUFFER_GROUP);
        }
    }

    private static IoUringBufferRingConfig bufferRing(int readBytes) {
        return IoUringBufferRingConfig.builder()
                .bufferGroupId(BUFFER_GROUP)
                .bufferRingSize(BUFFER_RING_ENTRIES)
                .batchSize(BUFFER_RING_BATCH)
                .allocator(new IoUringFixedBufferRingAllocator(PooledByteBufAllocator.DEFAULT, readBytes))
                .build();
    }
}
