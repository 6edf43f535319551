package dev.tidegate.config;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** {@code HOST:PORT} taken apart and made canonical. Immutable; an IPv6 host has no brackets here. */
record HostPort(String host, int port, boolean literal) {
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");
    private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?");
    private static final Pattern NUMERIC_END = Pattern.compile("(.*\\.)?([0-9]+|0[xX][0-9A-Fa-f]*)\\.?");
    private static final int HOST_MAX = 253;

    /** Reads it; {@code example} is the address that hints show. */
    static HostPort read(String text, IntRange ports, String example) throws InvalidValue {
        if (text.isEmpty()) {
            throw new InvalidValue("the address is empty", "write HOST:PORT, as in " + example);
        }
        if (text.startsWith("[")) {
            return readBracketed(text, ports);
        }
        int colon = text.indexOf(':');
        if (colon < 0) {
            throw new InvalidValue(
                    Text.quote(text) + (DIGITS.matcher(text).matches() ? " has no host" : " has no port"),
                    "write HOST:PORT, as in " + example);
        }
        if (colon != text.lastIndexOf(':')) {
            throw unbracketed(text, example);
        }
        String host = text.substring(0, colon);
        if (host.isEmpty() || host.equals("*")) {
            throw new InvalidValue(Text.quote(text) + " has no host", "write HOST:PORT, as in " + example);
        }
        return of(text, host, port(text, text.substring(colon + 1), ports), example);
    }

    private static HostPort readBracketed(String text, IntRange ports) throws InvalidValue {
        int close = text.indexOf(']');
        if (close < 0) {
            throw new InvalidValue(Text.quote(text) + " has no closing bracket", "write [V6]:PORT, as in [::1]:7001");
        }
        String inside = text.substring(1, close);
        if (inside.indexOf('%') >= 0) {
            throw new InvalidValue(
                    Text.quote(text) + " has a zone id", "zone ids are not supported: use a global address");
        }
        Optional<IpText> ip = inside.indexOf(':') < 0 ? Optional.empty() : IpText.parse(inside);
        if (ip.isEmpty()) {
            throw new InvalidValue(
                    Text.quote(text) + ": " + Text.quote(inside) + " is no IPv6 address",
                    "write [V6]:PORT, as in [::1]:7001; other hosts take no brackets");
        }
        String rest = text.substring(close + 1);
        if (!rest.startsWith(":")) {
            throw new InvalidValue(
                    Text.quote(text) + " has no port", "write [" + ip.get() + "]:PORT, as in [::1]:7001");
        }
        return new HostPort(ip.get().toString(), port(text, rest.substring(1), ports), true);
    }

    private static InvalidValue unbracketed(String text, String example) {
        int last = text.lastIndexOf(':');
        String host = text.substring(0, last);
        String port = text.substring(last + 1);
        if (text.indexOf('%') >= 0) {
            return new InvalidValue(
                    Text.quote(text) + " has a zone id", "zone ids are not supported: use a global address");
        }
        if (text.startsWith("http:") || text.startsWith("https:") || text.startsWith("tcp:")) {
            return new InvalidValue(Text.quote(text) + " is a URL", "write HOST:PORT, as in " + example);
        }
        if (IpText.parse(host).isPresent() && DIGITS.matcher(port).matches()) {
            return new InvalidValue(
                    Text.quote(text) + " is ambiguous: an IPv6 host needs brackets", "write [" + host + "]:" + port);
        }
        if (IpText.parse(text).isPresent()) {
            return new InvalidValue(Text.quote(text) + " has no port", "write [" + text + "]:PORT, as in [::1]:7001");
        }
        return new InvalidValue(Text.quote(text) + " has more than one colon", "write HOST:PORT, as in " + example);
    }

    private static int port(String text, String digits, IntRange ports) throws InvalidValue {
        if (digits.isEmpty()) {
            throw new InvalidValue(Text.quote(text) + " has no port", "write a port in " + ports + " after the colon");
        }
        if (!DIGITS.matcher(digits).matches()) {
            throw new InvalidValue(
                    Text.quote(text) + ": port " + Text.quote(digits) + " is not a number", "write a port in " + ports);
        }
        int port = digits.length() > 5 ? -1 : Integer.parseInt(digits);
        if (!ports.contains(port)) {
            throw new InvalidValue(
                    Text.quote(text) + ": port " + (digits.length() > 20 ? "" : digits + " ") + "is out of range",
                    "write a port in " + ports);
        }
        if (digits.length() > 1 && digits.startsWith("0")) {
            throw new InvalidValue(Text.quote(text) + ": port " + digits + " begins with a zero", "write " + port);
        }
        return port;
    }

    private static HostPort of(String text, String host, int port, String example) throws InvalidValue {
        Optional<IpText> ip = IpText.parse(host);
        if (ip.isPresent()) {
            return new HostPort(ip.get().toString(), port, true);
        }
        checkName(text, host, example);
        return new HostPort(host.toLowerCase(Locale.ROOT), port, false);
    }

    private static void checkName(String text, String host, String example) throws InvalidValue {
        if (host.indexOf('%') >= 0) {
            throw new InvalidValue(
                    Text.quote(text) + " has a zone id", "zone ids are not supported: use a global address");
        }
        // A name that ends in a number is an IPv4 address to some resolvers and a name to others: refused.
        if (NUMERIC_END.matcher(host).matches()) {
            throw new InvalidValue(
                    Text.quote(text) + ": " + Text.quote(host) + " is no IPv4 address",
                    "write four numbers of 0..255 without leading zeros, as in 10.0.0.1");
        }
        String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        if (name.length() > HOST_MAX) {
            throw new InvalidValue(
                    "host " + Text.quote(host) + " is longer than " + HOST_MAX + " characters", "write a shorter name");
        }
        for (String label : name.split("\\.", -1)) {
            if (!LABEL.matcher(label).matches()) {
                throw new InvalidValue(
                        Text.quote(text) + ": " + Text.quote(host) + " is no host name",
                        "write HOST:PORT, as in " + example);
            }
        }
    }

    /** The canonical form: {@code host:port}, an IPv6 host in brackets. */
    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]:" : host + ":") + port;
    }
}
