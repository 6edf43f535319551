package dev.tidegate.config;

import java.util.Optional;

/**
 * An IP address as text, read and written without ever asking DNS. Immutable. An IPv4-mapped IPv6 address is the IPv4
 * address it maps.
 */
final class IpText {
    private static final int V6_GROUPS = 8;

    /** Four parts of 8 bits for IPv4, eight groups of 16 bits for IPv6. */
    private final int[] groups;

    private final boolean v4;

    private IpText(int[] groups, boolean v4) {
        this.groups = groups;
        this.v4 = v4;
    }

    /** Reads {@code 10.0.0.1} or {@code 2001:db8::1} (no brackets, no zone); nothing if it is no literal. */
    static Optional<IpText> parse(String text) {
        return text.indexOf(':') >= 0 ? parseV6(text) : parseV4(text).map(parts -> new IpText(parts, true));
    }

    /** Reads the address of one host, without a port, and gives its canonical form. */
    static String readHost(String text) throws InvalidValue {
        String hint = "write an IP address without a port, as in 10.0.0.1 or 2001:db8::1";
        if (text.startsWith("[") && text.endsWith("]")) {
            String inside = text.substring(1, text.length() - 1);
            throw new InvalidValue(
                    Text.quote(text) + " has brackets, which only a port makes needful",
                    parse(inside).isPresent() ? "write " + inside : hint);
        }
        if (text.indexOf('%') >= 0) {
            throw new InvalidValue(
                    Text.quote(text) + " has a zone id", "zone ids are not supported: use a global address");
        }
        Optional<IpText> ip = parse(text);
        if (ip.isEmpty()) {
            throw new InvalidValue(Text.quote(text) + " is no IP address", hint);
        }
        if (ip.get().unspecified() || ip.get().multicast()) {
            throw new InvalidValue(Text.quote(text) + " is not the address of one host", hint);
        }
        return ip.get().toString();
    }

    boolean unspecified() {
        for (int group : groups) {
            if (group != 0) {
                return false;
            }
        }
        return true;
    }

    boolean loopback() {
        return v4 ? groups[0] == 127 : toString().equals("::1");
    }

    boolean multicast() {
        return v4 ? groups[0] >= 224 && groups[0] <= 239 : groups[0] >>> 8 == 0xff;
    }

    /** Four decimal parts, none with a leading zero: some readers take those as octal. */
    private static Optional<int[]> parseV4(String text) {
        int[] parts = new int[4];
        int at = 0;
        for (int i = 0; i < 4; i++) {
            int start = at;
            int value = 0;
            while (at < text.length() && at - start < 3 && isDigit(text.charAt(at))) {
                value = value * 10 + text.charAt(at) - '0';
                at++;
            }
            boolean leadingZero = at - start > 1 && text.charAt(start) == '0';
            if (at == start || leadingZero || value > 255) {
                return Optional.empty();
            }
            parts[i] = value;
            if (i < 3) {
                if (at >= text.length() || text.charAt(at) != '.') {
                    return Optional.empty();
                }
                at++;
            }
        }
        return at == text.length() ? Optional.of(parts) : Optional.empty();
    }

    private static Optional<IpText> parseV6(String text) {
        int gap = text.indexOf("::");
        int[] head = groupsOf(gap < 0 ? text : text.substring(0, gap), gap < 0);
        int[] tail = gap < 0 ? new int[0] : groupsOf(text.substring(gap + 2), true);
        if (head == null || tail == null) {
            return Optional.empty();
        }
        int given = head.length + tail.length;
        if (gap < 0 ? given != V6_GROUPS : given >= V6_GROUPS) {
            return Optional.empty();
        }
        int[] groups = new int[V6_GROUPS];
        System.arraycopy(head, 0, groups, 0, head.length);
        System.arraycopy(tail, 0, groups, V6_GROUPS - tail.length, tail.length);
        return Optional.of(isMapped(groups) ? unmapped(groups) : new IpText(groups, false));
    }

    /** The groups between colons, the last of which may be a dotted quad; null if malformed. */
    private static int[] groupsOf(String text, boolean mayEndInV4) {
        if (text.isEmpty()) {
            return new int[0];
        }
        String[] words = text.split(":", -1);
        if (words.length > V6_GROUPS) {
            return null;
        }
        boolean quad = mayEndInV4 && words[words.length - 1].indexOf('.') >= 0;
        int[] groups = new int[words.length + (quad ? 1 : 0)];
        int plain = quad ? words.length - 1 : words.length;
        for (int i = 0; i < plain; i++) {
            groups[i] = group(words[i]);
            if (groups[i] < 0) {
                return null;
            }
        }
        if (quad) {
            Optional<int[]> parts = parseV4(words[words.length - 1]);
            if (parts.isEmpty()) {
                return null;
            }
            groups[plain] = parts.get()[0] << 8 | parts.get()[1];
            groups[plain + 1] = parts.get()[2] << 8 | parts.get()[3];
        }
        return groups;
    }

    private static int group(String word) {
        if (word.isEmpty() || word.length() > 4) {
            return -1;
        }
        int value = 0;
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            int digit = c < 128 ? Character.digit(c, 16) : -1;
            if (digit < 0) {
                return -1;
            }
            value = value << 4 | digit;
        }
        return value;
    }

    private static boolean isMapped(int[] groups) {
        for (int i = 0; i < 5; i++) {
            if (groups[i] != 0) {
                return false;
            }
        }
        return groups[5] == 0xffff;
    }

    private static IpText unmapped(int[] groups) {
        return new IpText(new int[] {groups[6] >>> 8, groups[6] & 0xff, groups[7] >>> 8, groups[7] & 0xff}, true);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** IPv4 dotted, IPv6 as RFC 5952 section 4 writes it. */
    @Override
    public String toString() {
        return v4 ? groups[0] + "." + groups[1] + "." + groups[2] + "." + groups[3] : compressed();
    }

    private String compressed() {
        int bestStart = -1;
        int bestLength = 1; // a single zero group is not shortened
        for (int i = 0; i < V6_GROUPS; i++) {
            int end = i;
            while (end < V6_GROUPS && groups[end] == 0) {
                end++;
            }
            if (end - i > bestLength) {
                bestStart = i;
                bestLength = end - i;
            }
            i = Math.max(i, end);
        }
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < V6_GROUPS; i++) {
            if (i == bestStart) {
                text.append("::");
                i += bestLength - 1;
                continue;
            }
            if (text.length() > 0 && text.charAt(text.length() - 1) != ':') {
                text.append(':');
            }
            text.append(Integer.toHexString(groups[i]));
        }
        return text.toString();
    }
}
