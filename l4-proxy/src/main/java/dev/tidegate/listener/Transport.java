package dev.tidegate.listener;

import dev.tidegate.connection.Sockets;
import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.socket.ServerSocketChannel;
import java.net.InetAddress;

/**
 * A way to do socket I/O: io_uring, epoll or the JDK's nio. One is chosen for the process at its start.
 *
 * <p>Immutable; any thread.
 */
public interface Transport extends Sockets {
    /** Its name as the configuration has it: {@code io_uring}, {@code epoll}, {@code nio}. */
    String name();

    /** What an event loop does I/O with. */
    IoHandlerFactory ioHandlers();

    /**
     * A listening socket for an address of that family, not yet registered. Sockets that it accepts have the options of
     * relayed ones.
     *
     * @param v6Only for an IPv6 address: whether it leaves IPv4 to another listener
     */
    ServerSocketChannel openListener(InetAddress address, boolean v6Only, int unackedMillis);

    /** Whether it can take a listening socket that is open already. */
    default boolean adoptsListeners() {
        return false;
    }

    /**
     * A listening socket that is open already, not yet registered. Sockets that it accepts from now on have the options of
     * relayed ones.
     *
     * @param fd a listening TCP socket that is not blocking; closed with the channel
     * @throws UnsupportedOperationException where that cannot be had
     */
    default ServerSocketChannel adoptListener(int fd, int unackedMillis) {
        throw new UnsupportedOperationException("the transport " + name() + " takes no open socket");
    }

    /** Whether {@code v6Only} can be had. */
    boolean supportsV6Only();

    /** Whether a listener on an IPv4 address may accept IPv6 clients, which then are to be refused. */
    boolean acceptsOtherFamily();

    /** How long a loop goes on after its last socket was closed, as the kernel is still to tell of that; 0 where it is not. */
    default long lastCompletionsMillis() {
        return 0;
    }

    /** Gives an accepted channel, not yet registered, the options of relayed ones. */
    default void prepareAccepted(Channel channel) {
        ChannelOptions.relayed(channel.config());
    }
}
