package dev.tidegate.config;

import java.nio.charset.StandardCharsets;

/** Where connections are accepted: a TCP address or a UNIX socket, in canonical form. Immutable. */
public sealed interface ListenAddress {
    /**
     * Reads {@code HOST:PORT}, {@code [V6]:PORT} or {@code unix:/PATH}. The host is an IP address; nothing asks DNS.
     *
     * @param text the address as the configuration writes it
     * @return the address in canonical form
     * @throws IllegalArgumentException if it is malformed or not supported; the message says what would be right
     */
    static ListenAddress parse(String text) {
        try {
            return ListenAddresses.read(text);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    /**
     * A TCP address to listen on.
     *
     * @param host an IP address in canonical form, IPv6 without brackets; {@code 0.0.0.0} and {@code ::} are every
     *     address of the family
     * @param port 0..65535; 0 lets the system choose
     */
    record Tcp(String host, int port) implements ListenAddress {
        /**
         * Checks that the parts are canonical.
         *
         * @throws IllegalArgumentException if the host is no IP address in canonical form, or the port out of range
         */
        public Tcp {
            String canonical = ListenAddresses.requireTcp(new HostPort(host, port, true).toString())
                    .host();
            if (!canonical.equals(host)) {
                throw new IllegalArgumentException(
                        "listen host " + Text.quote(host) + " is not canonical; the canonical form is " + canonical);
            }
        }

        /** Whether only this machine can reach it. */
        public boolean loopback() {
            return IpText.parse(host).map(IpText::loopback).orElse(false);
        }

        /** The canonical form: {@code 127.0.0.1:80}, {@code [::1]:80}. */
        @Override
        public String toString() {
            return new HostPort(host, port, true).toString();
        }
    }

    /**
     * A UNIX socket to listen on.
     *
     * @param path absolute, at most {@value #PATH_MAX_BYTES} bytes: the kernel holds no more
     */
    record Unix(String path) implements ListenAddress {
        /** What {@code sun_path} holds beside its closing NUL. */
        static final int PATH_MAX_BYTES = 107;

        /**
         * Checks the path.
         *
         * @throws IllegalArgumentException if it is not absolute, has control characters or is too long
         */
        public Unix {
            if (!path.startsWith("/")) {
                throw new IllegalArgumentException("UNIX socket path " + Text.quote(path) + " is not absolute");
            }
            if (path.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException("UNIX socket path " + Text.quote(path) + " has control characters");
            }
            if (path.getBytes(StandardCharsets.UTF_8).length > PATH_MAX_BYTES) {
                throw new IllegalArgumentException(
                        "UNIX socket path " + Text.quote(path) + " is longer than " + PATH_MAX_BYTES + " bytes");
            }
        }

        /** The canonical form: {@code unix:/run/tidegate/admin.sock}. */
        @Override
        public String toString() {
            return "unix:" + path;
        }
    }
}
