package dev.tidegate.cli;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Where a running process's admin API is reached. Immutable. */
sealed interface ApiAddress {
    /** Where the socket is when Tidegate runs as a service of the system. */
    Path SYSTEM_SOCKET = Path.of("/run/tidegate/admin.sock");

    /** What {@code --admin} takes. */
    String EXPECTED = "write unix:/PATH, http://HOST:PORT or https://HOST:PORT";

    /**
     * A UNIX socket.
     *
     * @param path the socket file
     */
    record Unix(Path path) implements ApiAddress {
        @Override
        public String toString() {
            return "unix:" + path;
        }
    }

    /**
     * A TCP address.
     *
     * @param host a name or an IP address, IPv6 without brackets
     * @param port 1 to 65535
     * @param tls whether HTTP goes over TLS
     */
    record Http(String host, int port, boolean tls) implements ApiAddress {
        /** Host and port as a {@code Host} header has them. */
        String authority() {
            return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
        }

        @Override
        public String toString() {
            return (tls ? "https://" : "http://") + authority();
        }
    }

    /**
     * Reads what {@code --admin} was given.
     *
     * @throws IllegalArgumentException if it is no such address; the message says what would be right
     */
    static ApiAddress parse(String text) {
        if (text.startsWith("unix:") && text.length() > "unix:".length()) {
            return new Unix(Path.of(text.substring("unix:".length())));
        }
        boolean tls = text.startsWith("https://");
        if (!tls && !text.startsWith("http://")) {
            throw new IllegalArgumentException("\"" + text + "\" is no address of an admin API; " + EXPECTED);
        }
        try {
            URI uri = new URI(text);
            boolean bare = uri.getRawPath().isEmpty() || uri.getRawPath().equals("/");
            boolean portFits = uri.getPort() == -1 || (uri.getPort() >= 1 && uri.getPort() <= 65_535);
            if (uri.getHost() == null || !bare || !portFits || uri.getRawQuery() != null || uri.getUserInfo() != null) {
                throw new IllegalArgumentException(
                        "\"" + text + "\" is more or less than a host and a port; " + EXPECTED);
            }
            int port = uri.getPort() == -1 ? (tls ? 443 : 80) : uri.getPort();
            return new Http(uri.getHost().replace("[", "").replace("]", ""), port, tls);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("\"" + text + "\" cannot be read; " + EXPECTED, e);
        }
    }

    /**
     * Where to look when nothing is said: the socket that {@code tidegate run} makes in the same environment; where that
     * one is not, the service's.
     *
     * @param environment of this process
     */
    static ApiAddress standard(Map<String, String> environment) {
        Optional<Path> own = AdminListens.defaultSocket(environment);
        boolean service = own.isEmpty() || (!Files.exists(own.get()) && Files.exists(SYSTEM_SOCKET));
        return new Unix(service ? SYSTEM_SOCKET : own.get());
    }
}
