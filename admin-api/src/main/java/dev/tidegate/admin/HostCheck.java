package dev.tidegate.admin;

import io.netty.util.NetUtil;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Which names a listener may be called by. A web page that makes a browser's name for this machine point at it is told
 * apart by the {@code Host} it sends. Immutable.
 */
final class HostCheck {
    /** For UNIX sockets: no browser comes there. */
    static final HostCheck ANY = new HostCheck(Set.of(), Names.ALL);

    private final Set<String> names;
    private final Names also;

    private enum Names {
        ALL,
        /** An address cannot be made to point elsewhere, so it is no way in for a page. */
        ADDRESSES,
        NONE
    }

    private HostCheck(Set<String> names, Names also) {
        this.names = names;
        this.also = also;
    }

    static HostCheck loopback(AdminAddress.Tcp address) {
        return new HostCheck(own(address), Names.NONE);
    }

    /**
     * For an address beyond loopback.
     *
     * @param certified the names in the server's certificate; {@code *} stands for one label
     */
    static HostCheck beyondLoopback(AdminAddress.Tcp address, List<String> certified) {
        Set<String> names = new HashSet<>(own(address));
        certified.forEach(name -> names.add(name.toLowerCase(Locale.ROOT)));
        return new HostCheck(Set.copyOf(names), Names.ADDRESSES);
    }

    private static Set<String> own(AdminAddress.Tcp address) {
        String shown = address.toString();
        return Set.copyOf(new HashSet<>(List.of(
                "localhost",
                "127.0.0.1",
                "[::1]",
                shown.substring(0, shown.lastIndexOf(':')),
                address.address().getHostString().toLowerCase(Locale.ROOT))));
    }

    boolean allows(String host) {
        if (also == Names.ALL) {
            return true;
        }
        String name = withoutPort(host).toLowerCase(Locale.ROOT);
        return names.contains(name)
                || names.contains("*" + name.substring(Math.max(0, name.indexOf('.'))))
                || (also == Names.ADDRESSES && isAddress(name));
    }

    /** What would be right. */
    String wanted() {
        return "use localhost, 127.0.0.1 or [::1]"
                + (also == Names.ADDRESSES ? ", its address, or a name in its certificate" : "");
    }

    private static boolean isAddress(String name) {
        return (name.startsWith("[") && name.endsWith("]"))
                ? NetUtil.isValidIpV6Address(name.substring(1, name.length() - 1))
                : NetUtil.isValidIpV4Address(name);
    }

    private static String withoutPort(String host) {
        int colon = host.lastIndexOf(':');
        boolean port = colon > 0
                && colon > host.lastIndexOf(']')
                && host.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
        return port ? host.substring(0, colon) : host;
    }
}
