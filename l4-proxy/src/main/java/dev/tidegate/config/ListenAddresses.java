package dev.tidegate.config;

import java.nio.charset.StandardCharsets;

/** Reads listen addresses and knows which of them cannot live together. Stateless. */
final class ListenAddresses {
    static final String ANY_V4 = "0.0.0.0";
    static final String ANY_V6 = "::";

    private static final String EXAMPLE = "0.0.0.0:8080, 127.0.0.1:8080 or [::]:8080";

    private ListenAddresses() {}

    static ListenAddress read(String text) throws InvalidValue {
        if (text.startsWith("unix:")) {
            return readUnix(text);
        }
        if (text.startsWith("systemd:")) {
            return readSystemd(text);
        }
        if (text.startsWith("/")) {
            throw new InvalidValue(Text.quote(text) + " is a path", "write unix:" + text);
        }
        return readTcp(text);
    }

    private static ListenAddress.Unix readUnix(String text) throws InvalidValue {
        String path = text.substring("unix:".length());
        if (!path.startsWith("/") || path.endsWith("/")) {
            throw new InvalidValue(
                    Text.quote(text) + " names no file by its full path",
                    "write unix:/PATH, as in unix:/run/tidegate/admin.sock");
        }
        if (path.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidValue(Text.quote(text) + " has control characters", "write a plain path");
        }
        int bytes = path.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > ListenAddress.Unix.PATH_MAX_BYTES) {
            throw new InvalidValue(
                    Text.quote(text) + " is a path of " + bytes + " bytes",
                    "a UNIX socket's path has at most " + ListenAddress.Unix.PATH_MAX_BYTES + " bytes");
        }
        return new ListenAddress.Unix(path);
    }

    private static ListenAddress.Systemd readSystemd(String text) throws InvalidValue {
        String name = text.substring("systemd:".length());
        if (!ListenAddress.Systemd.isName(name)) {
            throw new InvalidValue(
                    Text.quote(text) + " names no socket of systemd's",
                    "write systemd:NAME with the socket unit's FileDescriptorName= (1 to "
                            + ListenAddress.Systemd.NAME_MAX + " printable characters, no ':'), as in systemd:web");
        }
        return new ListenAddress.Systemd(name);
    }

    private static ListenAddress.Tcp readTcp(String text) throws InvalidValue {
        HostPort parts = readParts(text);
        return new ListenAddress.Tcp(parts.host(), parts.port());
    }

    private static HostPort readParts(String text) throws InvalidValue {
        HostPort parts = HostPort.read(text, IntRange.LISTEN_PORT, EXAMPLE);
        if (parts.host().equals("localhost")) {
            throw new InvalidValue(
                    Text.quote(text) + ": a listener takes an IP address, not a name",
                    "write 127.0.0.1:" + parts.port() + " or [::1]:" + parts.port());
        }
        if (!parts.literal()) {
            throw new InvalidValue(
                    Text.quote(text) + ": a listener takes an IP address, not a name", "write it as in " + EXAMPLE);
        }
        if (IpText.parse(parts.host()).map(IpText::multicast).orElse(false)) {
            throw new InvalidValue(
                    Text.quote(text) + " is a multicast address, which has no TCP", "write it as in " + EXAMPLE);
        }
        return parts;
    }

    static HostPort requireTcp(String text) {
        try {
            return readParts(text);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    /**
     * Whether the two cannot both be bound. {@code [::]} takes IPv4 too unless {@code 0.0.0.0} with its port is there
     * as well, so those two get along; {@code [::]} and one IPv4 address do not. Port 0 is another port each time.
     */
    static boolean conflict(ListenAddress a, ListenAddress b) {
        if (a instanceof ListenAddress.Tcp first && b instanceof ListenAddress.Tcp second) {
            return first.port() == second.port() && first.port() != 0 && overlap(first.host(), second.host());
        }
        return a.equals(b);
    }

    private static boolean overlap(String a, String b) {
        if (a.equals(b)) {
            return true;
        }
        boolean aV4 = a.indexOf(':') < 0;
        boolean bV4 = b.indexOf(':') < 0;
        if (aV4 != bV4) {
            String v6 = aV4 ? b : a;
            String v4 = aV4 ? a : b;
            return isWildcard(v6) && !isWildcard(v4);
        }
        return isWildcard(a) || isWildcard(b);
    }

    /** Whether it stands for every address of its family; the host is canonical. */
    static boolean isWildcard(String host) {
        return host.equals(ANY_V4) || host.equals(ANY_V6);
    }
}
