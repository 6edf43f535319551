package dev.tidegate.testkit;

import java.net.InetSocketAddress;

/** Writes an address as configurations have it: {@code HOST:PORT}, an IPv6 host in brackets. */
public final class HostPort {
    private HostPort() {}

    /** Works for resolved addresses only. */
    public static String of(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }
}
