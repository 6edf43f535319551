package dev.tidegate.config;

import java.nio.charset.StandardCharsets;

/** Where connections are accepted: a TCP address, a UNIX socket or sockets from systemd, in canonical form. Immutable. */
public sealed interface ListenAddress {
    /**
     * Reads {@code HOST:PORT}, {@code [V6]:PORT}, {@code unix:/PATH} or {@code systemd:NAME}. The host is an IP address; nothing asks DNS.
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

    /**
     * The listening sockets that systemd passes under a name, one or more.
     *
     * @param name {@code FileDescriptorName=} of the socket unit, or the unit's own name
     */
    record Systemd(String name) implements ListenAddress {
        /** What systemd allows. */
        static final int NAME_MAX = 255;

        /**
         * Checks the name.
         *
         * @throws IllegalArgumentException if systemd has no such names
         */
        public Systemd {
            if (!isName(name)) {
                throw new IllegalArgumentException("socket name " + Text.quote(name) + " is none that systemd gives");
            }
        }

        /** Whether systemd would take it, save for spaces, which are more likely a slip. */
        static boolean isName(String text) {
            return !text.isEmpty()
                    && text.length() <= NAME_MAX
                    && text.chars().allMatch(c -> c > ' ' && c < 127 && c != ':');
        }

        /** The canonical form: {@code systemd:web}. */
        @Override
        public String toString() {
            return "systemd:" + name;
        }
    }
}
