package dev.tidegate.admin;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Which names a listener may be called by. A web page that makes a browser's name for this machine point at loopback is
 * told apart by the {@code Host} it sends. Immutable.
 */
final class HostCheck {
    /** For UNIX sockets: no browser comes there. */
    static final HostCheck ANY = new HostCheck(Set.of());

    private final Set<String> names;

    private HostCheck(Set<String> names) {
        this.names = names;
    }

    static HostCheck loopback(AdminAddress.Tcp address) {
        String own = address.toString();
        return new HostCheck(
                Set.copyOf(List.of("localhost", "127.0.0.1", "[::1]", own.substring(0, own.lastIndexOf(':')))));
    }

    boolean allows(String host) {
        return names.isEmpty() || names.contains(withoutPort(host).toLowerCase(Locale.ROOT));
    }

    private static String withoutPort(String host) {
        int colon = host.lastIndexOf(':');
        boolean port = colon > 0
                && colon > host.lastIndexOf(']')
                && host.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
        return port ? host.substring(0, colon) : host;
    }
}
