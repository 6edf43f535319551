package dev.tidegate.listener;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MaxMessagesRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.unix.IntegerUnixChannelOption;
import io.netty.channel.unix.RawUnixChannelOption;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What all relayed sockets have, and why. Any thread.
 */
final class ChannelOptions {
    /** Bytes of one read. Small enough that read and write stay in the cache; bench: {@code compare --scenarios bulk}. */
    static final int READ_BYTES = 32 * 1024;

    /** Reads in one turn, so that one busy connection does not starve the others of its worker. */
    static final int READS_A_TURN = 4;

    /** Bytes queued toward a side at which reading from the other pauses, and at which it goes on. */
    static final WriteBufferWaterMark WATERMARKS = new WriteBufferWaterMark(32 * 1024, 64 * 1024);

    static final ByteBufAllocator ALLOCATOR = PooledByteBufAllocator.DEFAULT;

    static final int KEEPALIVE_IDLE_SECONDS = 15;
    static final int KEEPALIVE_INTERVAL_SECONDS = 5;
    static final int KEEPALIVE_PROBES = 3;

    static final int BACKLOG = 4096;

    /** The kernel's number of the state that a TCP socket is in once it is dead. */
    static final int TCP_CLOSE = 7;

    private static final int SOL_SOCKET = 1;
    private static final int IPPROTO_TCP = 6;
    private static final int IPPROTO_IPV6 = 41;

    // By number, since Netty's listeners have no such options by name; accepted sockets inherit them from the listener,
    // so that no connection pays a system call for them.
    static final IntegerUnixChannelOption SO_KEEPALIVE = new IntegerUnixChannelOption("TG_SO_KEEPALIVE", SOL_SOCKET, 9);
    static final IntegerUnixChannelOption TCP_NODELAY = new IntegerUnixChannelOption("TG_TCP_NODELAY", IPPROTO_TCP, 1);
    static final IntegerUnixChannelOption TCP_KEEPIDLE =
            new IntegerUnixChannelOption("TG_TCP_KEEPIDLE", IPPROTO_TCP, 4);
    static final IntegerUnixChannelOption TCP_KEEPINTVL =
            new IntegerUnixChannelOption("TG_TCP_KEEPINTVL", IPPROTO_TCP, 5);
    static final IntegerUnixChannelOption TCP_KEEPCNT = new IntegerUnixChannelOption("TG_TCP_KEEPCNT", IPPROTO_TCP, 6);
    static final IntegerUnixChannelOption TCP_USER_TIMEOUT =
            new IntegerUnixChannelOption("TG_TCP_USER_TIMEOUT", IPPROTO_TCP, 18);
    static final IntegerUnixChannelOption IPV6_V6ONLY =
            new IntegerUnixChannelOption("TG_IPV6_V6ONLY", IPPROTO_IPV6, 26);

    /** {@code struct tcp_info} of linux/tcp.h, as far as {@code tcpi_notsent_bytes}; Netty knows its older half only. */
    private static final RawUnixChannelOption TCP_INFO = new RawUnixChannelOption("TG_TCP_INFO", IPPROTO_TCP, 11, 148);

    private static final int TCPI_UNACKED = 24;
    private static final int TCPI_NOTSENT_BYTES = 144;

    private ChannelOptions() {}

    static SocketProtocolFamily family(InetAddress address) {
        return address instanceof Inet4Address ? SocketProtocolFamily.INET : SocketProtocolFamily.INET6;
    }

    /** For sockets that bytes are relayed over, of any transport. None of it is a system call. */
    static void relayed(ChannelConfig config) {
        config.setAllocator(ALLOCATOR);
        MaxMessagesRecvByteBufAllocator reads = new FixedRecvByteBufAllocator(READ_BYTES);
        reads.maxMessagesPerRead(READS_A_TURN);
        config.setRecvByteBufAllocator(reads);
        config.setWriteBufferWaterMark(WATERMARKS);
        // A failed write must not close the channel: what the peer had sent before is still to be read.
        config.setAutoClose(false);
        config.setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        // Bounded above by our own dial deadline, on the worker's wheel.
        config.setConnectTimeoutMillis(0);
    }

    /** For a listener of a native transport: inherited by what it accepts. */
    static void inherited(Channel listener, int unackedMillis) {
        ChannelConfig config = listener.config();
        config.setOption(TCP_NODELAY, 1);
        config.setOption(SO_KEEPALIVE, 1);
        config.setOption(TCP_KEEPIDLE, KEEPALIVE_IDLE_SECONDS);
        config.setOption(TCP_KEEPINTVL, KEEPALIVE_INTERVAL_SECONDS);
        config.setOption(TCP_KEEPCNT, KEEPALIVE_PROBES);
        config.setOption(TCP_USER_TIMEOUT, unackedMillis);
    }

    /** {@link dev.tidegate.connection.Sockets#undelivered} for a native transport. */
    static long undelivered(Channel channel) {
        if (!channel.isOpen()) {
            return 0;
        }
        ByteBuffer info = channel.config().getOption(TCP_INFO).order(ByteOrder.nativeOrder());
        return Integer.toUnsignedLong(info.getInt(TCPI_UNACKED))
                + Integer.toUnsignedLong(info.getInt(TCPI_NOTSENT_BYTES));
    }

    /** For a connected socket of a native transport, once it has some age. */
    static void late(Channel channel, int unackedMillis) {
        ChannelConfig config = channel.config();
        config.setOption(SO_KEEPALIVE, 1);
        config.setOption(TCP_KEEPIDLE, KEEPALIVE_IDLE_SECONDS);
        config.setOption(TCP_KEEPINTVL, KEEPALIVE_INTERVAL_SECONDS);
        config.setOption(TCP_KEEPCNT, KEEPALIVE_PROBES);
        config.setOption(TCP_USER_TIMEOUT, unackedMillis);
    }
}
