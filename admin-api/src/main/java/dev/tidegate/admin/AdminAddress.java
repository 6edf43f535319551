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
     * is bound; its file, if it has one, is not ours to remove.
     *
     * @param name what it goes by
     * @param fd the descriptor, not blocking; closed with the server
     * @param real where it listens
     */
    record Passed(String name, int fd, AdminAddress real) implements AdminAddress {
        @Override
        public String toString() {
            return real + " (" + name + ")";
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
