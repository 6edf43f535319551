package dev.tidegate.testkit;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A real HAProxy, one thread in the foreground, on a loopback port, as the user who runs the test.
 *
 * <pre>{@code
 * try (RealHaproxy haproxy = RealHaproxy.tcp(backend.address())) {
 *     compareWith(haproxy.address());
 * }
 * }</pre>
 */
public final class RealHaproxy implements AutoCloseable {
    private final RunningTool running;

    private RealHaproxy(IntFunction<String> sections) {
        running = Tool.require("haproxy")
                .listen((port, directory) -> List.of(
                        "-db",
                        "-f",
                        directory
                                .write("haproxy.cfg", main() + sections.apply(port))
                                .toString()));
    }

    /** A TCP proxy to {@code upstream}. */
    public static RealHaproxy tcp(InetSocketAddress upstream) {
        return new RealHaproxy(port -> """
                listen all
                  mode tcp
                  bind 127.0.0.1:%d
                  server s %s
                """.formatted(port, HostPort.of(upstream)));
    }

    /** HTTP/1.1 behind the PROXY protocol (v1, v2): answers {@code CLIENT_ADDRESS:PORT} as the header told it. */
    public static RealHaproxy tellingProxiedClient() {
        return new RealHaproxy(port -> """
                frontend all
                  mode http
                  bind 127.0.0.1:%d accept-proxy
                  http-request return status 200 content-type text/plain lf-string "%%[src]:%%[src_port]"
                """.formatted(port));
    }

    /** Any configuration: {@code sections} gives what follows {@code defaults} for a port of 127.0.0.1 to listen on. */
    public static RealHaproxy with(IntFunction<String> sections) {
        return new RealHaproxy(sections);
    }

    private static String main() {
        return """
                global
                  nbthread 1
                  maxconn 8192
                defaults
                  timeout connect 5s
                  timeout client 1h
                  timeout server 1h
                """;
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return running.address();
    }

    /** Its process id. */
    public long pid() {
        return running.pid();
    }

    @Override
    public void close() {
        running.close();
    }

    @Override
    public String toString() {
        return "RealHaproxy[" + running + "]";
    }
}
