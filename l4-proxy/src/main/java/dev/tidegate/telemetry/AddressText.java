package dev.tidegate.telemetry;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;

/** Socket addresses in their one canonical form. Any thread. */
public final class AddressText {
    private static final int GROUPS = 8;

    private AddressText() {}

    /**
     * The address with its port: {@code 192.0.2.1:80}, {@code [2001:db8::1]:80} (RFC 5952, section 6), {@code unix:/path}.
     * An IPv4 address mapped into IPv6 is shown plainly.
     *
     * @return null for null
     */
    public static String of(SocketAddress address) {
        if (address == null) {
            return null;
        }
        if (address instanceof InetSocketAddress inet) {
            InetAddress host = inet.getAddress();
            if (host == null) {
                return inet.getHostString() + ":" + inet.getPort();
            }
            String text = host(host);
            return (text.indexOf(':') < 0 ? text : "[" + text + "]") + ":" + inet.getPort();
        }
        if (address instanceof UnixDomainSocketAddress unix) {
            return "unix:" + unix.getPath();
        }
        return address.toString();
    }

    /** The address without port and brackets. */
    static String host(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (!(address instanceof Inet6Address)) {
            return ipv4(bytes, 0);
        }
        return isMapped(bytes) ? ipv4(bytes, 12) : ipv6(bytes);
    }

    private static boolean isMapped(byte[] bytes) {
        for (int i = 0; i < 10; i++) {
            if (bytes[i] != 0) {
                return false;
            }
        }
        return bytes[10] == (byte) 0xff && bytes[11] == (byte) 0xff;
    }

    private static String ipv4(byte[] bytes, int from) {
        return (bytes[from] & 0xff) + "." + (bytes[from + 1] & 0xff) + "." + (bytes[from + 2] & 0xff) + "."
                + (bytes[from + 3] & 0xff);
    }

    /** RFC 5952, section 4: no leading zeros, the first longest run of two or more zero groups left out, small letters. */
    private static String ipv6(byte[] bytes) {
        int[] groups = new int[GROUPS];
        for (int i = 0; i < GROUPS; i++) {
            groups[i] = (bytes[2 * i] & 0xff) << 8 | (bytes[2 * i + 1] & 0xff);
        }
        int runStart = -1;
        int runLength = 1;
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && groups[end] == 0) {
                end++;
            }
            if (end - i > runLength) {
                runStart = i;
                runLength = end - i;
            }
        }
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < GROUPS; i++) {
            if (i == runStart) {
                text.append("::");
                i += runLength - 1;
                continue;
            }
            if (!text.isEmpty() && text.charAt(text.length() - 1) != ':') {
                text.append(':');
            }
            text.append(Integer.toHexString(groups[i]));
        }
        return text.toString();
    }
}
