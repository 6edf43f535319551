package dev.tidegate.listener;

import io.netty.channel.ChannelException;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;

/**
 * A descriptor that was open before this process began to serve: passed by systemd, or handed over by the process before.
 * Immutable.
 *
 * @param name what systemd calls it; empty when it does not come from there
 * @param place what it was known by in the process before, see {@link Listeners}; empty when it comes from systemd
 * @param fd the descriptor
 * @param address where it listens: an {@link InetSocketAddress}, or a {@link DomainSocketAddress}; empty when it is no
 *     listening stream socket
 * @param fault what it is then, in words; empty otherwise
 */
public record InheritedSocket(String name, String place, int fd, Optional<SocketAddress> address, String fault) {
    private static final int SOL_SOCKET = 1;
    private static final int SO_TYPE = 3;
    private static final int SO_ACCEPTCONN = 30;
    private static final int SO_DOMAIN = 39;
    private static final int SOCK_STREAM = 1;
    private static final int AF_UNIX = 1;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_V6ONLY = 26;

    /** Asks the kernel what a descriptor is. */
    static InheritedSocket of(String name, String place, int fd) {
        try {
            Socket socket = new Socket(fd); // it asks the kernel at once
            String fault = fault(socket);
            return new InheritedSocket(
                    name, place, fd, fault.isEmpty() ? Optional.of(address(socket)) : Optional.empty(), fault);
        } catch (IOException | ChannelException e) {
            return new InheritedSocket(name, place, fd, Optional.empty(), "is no open socket: " + e.getMessage());
        }
    }

    private static String fault(Socket socket) throws IOException {
        int family = socket.getIntOpt(SOL_SOCKET, SO_DOMAIN);
        if (socket.getIntOpt(SOL_SOCKET, SO_TYPE) != SOCK_STREAM) {
            return "is no stream socket; ListenStream= makes one";
        }
        if (socket.getIntOpt(SOL_SOCKET, SO_ACCEPTCONN) == 0) {
            return "does not listen; Accept=no gives the listening socket itself";
        }
        return family == AF_UNIX || family == AF_INET || family == AF_INET6
                ? ""
                : "is of address family " + family + "; IPv4, IPv6 or UNIX was expected";
    }

    private static SocketAddress address(Socket socket) throws IOException {
        return socket.getIntOpt(SOL_SOCKET, SO_DOMAIN) == AF_UNIX
                ? socket.localDomainSocketAddress()
                : socket.localAddress();
    }

    /** Where it listens for TCP; empty for anything else. */
    public Optional<InetSocketAddress> tcp() {
        return address.filter(InetSocketAddress.class::isInstance).map(InetSocketAddress.class::cast);
    }

    /** Whether it leaves IPv4 to others. */
    boolean v6Only() {
        try {
            Socket socket = new Socket(fd);
            return socket.getIntOpt(SOL_SOCKET, SO_DOMAIN) == AF_INET6
                    && socket.getIntOpt(IPPROTO_IPV6, IPV6_V6ONLY) != 0;
        } catch (IOException e) {
            return false; // it takes what comes
        }
    }

    /** Gives the descriptor back to the system. */
    public void close() throws IOException {
        new Socket(fd).close();
    }

    /** What it is called in the configuration, or where it listens. */
    @Override
    public String toString() {
        return name.isEmpty() ? place : "systemd:" + name;
    }
}
