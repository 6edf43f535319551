package dev.tidegate.admin;

import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/** Where the admin server listens. Immutable. */
public sealed interface AdminAddress {
    /**
     * A UNIX socket: whoever may open the file is an administrator.
     *
     * @param path the socket file
     */
    record Unix(Path path) implements AdminAddress {
        @Override
        public String toString() {
            return "unix:" + path;
        }
    }

    /**
     * A TCP address on loopback.
     *
     * @param address resolved; port 0 lets the kernel choose
     */
    record Tcp(InetSocketAddress address) implements AdminAddress {
        @Override
        public String toString() {
            if (address.isUnresolved()) {
                return address.getHostString() + ":" + address.getPort();
            }
            String host = NetUtil.toAddressString(address.getAddress()); // RFC 5952, as everywhere else
            return (address.getAddress() instanceof Inet6Address ? "[" + host + "]" : host) + ":" + address.getPort();
        }
    }

    /**
     * A listening socket that is open already, whoever opened it. What it is decides who may do what on it, as for one that
     * is bound; its file, if it has one, is not ours to remove when
     * it is from systemd.
     *
     * @param name what systemd calls it; empty when it was the socket of the process before this one
     * @param fd the descriptor, not blocking; closed with the server
     * @param real where it listens
     * @param asked what it is known by when it goes on to the next process
     */
    record Passed(String name, int fd, AdminAddress real, String asked) implements AdminAddress {
        @Override
        public String toString() {
            return real + (name.isEmpty() ? "" : " (systemd:" + name + ")");
        }
    }

    /** A UNIX socket at a path. */
    static AdminAddress unix(Path path) {
        return new Unix(path);
    }

    /** A TCP address on loopback; port 0 lets the kernel choose. */
    static AdminAddress tcp(InetSocketAddress address) {
        return new Tcp(address);
    }
}
