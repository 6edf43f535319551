package dev.tidegate.config;

import java.util.Optional;

/**
 * Where an endpoint is reached, in canonical form. Immutable.
 *
 * @param host an IPv4 address, an IPv6 address as RFC 5952 writes it (no brackets), or a host name in lower case;
 *     an IPv4-mapped IPv6 address is the IPv4 address
 * @param port 1..65535
 * @param literal whether {@code host} is an IP address, which needs no DNS
 */
public record EndpointAddress(String host, int port, boolean literal) {
    private static final String EXAMPLE = "10.0.0.1:8080, [2001:db8::1]:8080 or app.internal:8080";

    /**
     * Checks that the parts are canonical.
     *
     * @throws IllegalArgumentException if they are not what {@link #parse} would give
     */
    public EndpointAddress {
        HostPort canonical = canonical(new HostPort(host, port, literal).toString());
        if (!canonical.host().equals(host) || canonical.literal() != literal) {
            throw new IllegalArgumentException("endpoint address " + Text.quote(host) + " (literal: " + literal
                    + ") is not canonical; the canonical form is " + canonical + " (literal: " + canonical.literal()
                    + ")");
        }
    }

    /**
     * Reads {@code HOST:PORT} or {@code [V6]:PORT}. Never asks DNS.
     *
     * @param text the address as the configuration writes it
     * @return the address in canonical form
     * @throws IllegalArgumentException if it is malformed; the message says what would be right
     */
    public static EndpointAddress parse(String text) {
        return of(canonical(text));
    }

    static EndpointAddress read(String text) throws InvalidValue {
        return of(readParts(text));
    }

    private static EndpointAddress of(HostPort parts) {
        return new EndpointAddress(parts.host(), parts.port(), parts.literal());
    }

    private static HostPort canonical(String text) {
        try {
            return readParts(text);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    private static HostPort readParts(String text) throws InvalidValue {
        if (text.startsWith("unix:")) {
            throw new InvalidValue(Text.quote(text) + ": endpoints are reached over TCP only", "write HOST:PORT");
        }
        HostPort parts = HostPort.read(text, IntRange.PORT, EXAMPLE);
        Optional<IpText> ip = parts.literal() ? IpText.parse(parts.host()) : Optional.empty();
        if (ip.isPresent() && (ip.get().unspecified() || ip.get().multicast())) {
            throw new InvalidValue(
                    Text.quote(text) + " is no address to connect to",
                    "write the address of one host, as in " + EXAMPLE);
        }
        return parts;
    }

    /** The canonical form, as logs, labels and the API show it: {@code 10.0.0.1:80}, {@code [::1]:80}. */
    @Override
    public String toString() {
        return new HostPort(host, port, literal).toString();
    }
}
