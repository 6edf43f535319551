package dev.tidegate.bench;

import java.net.InetSocketAddress;

/** The text form of a socket address, {@code HOST:PORT}. */
final class HostPort {
    private HostPort() {}

    /** The address that {@code text} names, with the host resolved; throws {@link IllegalArgumentException}. */
    static InetSocketAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon <= 0) {
            throw new IllegalArgumentException("address \"" + text + "\" has no port; write HOST:PORT");
        }
        try {
            return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "address \"" + text + "\" has no port from 0 to 65535 after its colon", e);
        }
    }

    static String format(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }
}
