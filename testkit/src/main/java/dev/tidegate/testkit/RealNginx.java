package dev.tidegate.testkit;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A real nginx, one process, on a loopback port, as the user who runs the test.
 *
 * <pre>{@code
 * try (RealNginx nginx = RealNginx.http("hello\n")) {
 *     proxyTo(nginx.address());
 * }
 * }</pre>
 */
public final class RealNginx implements AutoCloseable {
    private static final Path STREAM_MODULE = Path.of("/usr/lib/nginx/modules/ngx_stream_module.so");

    private final RunningTool running;

    private RealNginx(IntFunction<String> blocks) {
        running = Tool.require("nginx").listen((port, directory) -> {
            Path conf = directory.write("nginx.conf", main(directory.path()) + blocks.apply(port));
            return List.of(
                    "-p", directory.path().toString(), "-c", conf.toString(), "-e", directory.path() + "/error.log");
        });
    }

    /** HTTP/1.1: answers each request with {@code body}; files in {@link #directory()} under {@code /files/}. */
    public static RealNginx http(String body) {
        return new RealNginx(port -> http("listen 127.0.0.1:" + port + ";", body));
    }

    /** HTTP/2 in cleartext with prior knowledge; otherwise as {@link #http}. */
    public static RealNginx http2(String body) {
        return new RealNginx(port -> http("listen 127.0.0.1:" + port + " http2;", body));
    }

    /** HTTP/1.1 behind the PROXY protocol (v1, v2): answers {@code CLIENT_ADDRESS:PORT} as the header told it. */
    public static RealNginx tellingProxiedClient() {
        return new RealNginx(port ->
                http("listen 127.0.0.1:" + port + " proxy_protocol;", "$proxy_protocol_addr:$proxy_protocol_port"));
    }

    /** A TCP proxy to {@code upstream}, half-closure allowed (off is nginx's default: it ends both sides at the first FIN). */
    public static RealNginx stream(InetSocketAddress upstream) {
        return new RealNginx(port -> """
                stream {
                  access_log off;
                  server { listen 127.0.0.1:%d; proxy_pass %s; proxy_half_close on; }
                }
                """.formatted(port, HostPort.of(upstream)));
    }

    /** Any configuration: {@code blocks} gives what follows {@code events} for a port of 127.0.0.1 to listen on. */
    public static RealNginx with(IntFunction<String> blocks) {
        return new RealNginx(blocks);
    }

    private static String main(Path directory) {
        String module = Files.exists(STREAM_MODULE) ? "load_module " + STREAM_MODULE + ";\n" : "";
        return module + """
                daemon off;
                master_process off;
                pid %s/nginx.pid;
                error_log %s/error.log warn;
                events { worker_connections 8192; }
                """.formatted(directory, directory);
    }

    private static String http(String listen, String body) {
        return """
                http {
                  access_log off;
                  client_body_temp_path body;
                  proxy_temp_path proxy;
                  fastcgi_temp_path fastcgi;
                  uwsgi_temp_path uwsgi;
                  scgi_temp_path scgi;
                  keepalive_requests 1000000;
                  server {
                    %s
                    location / { default_type text/plain; return 200 "%s"; }
                    location /files/ { alias ./; }
                  }
                }
                """.formatted(listen, body.replace("\\", "\\\\").replace("\"", "\\\""));
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return running.address();
    }

    /** Its directory. */
    public Path directory() {
        return running.directory();
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
        return "RealNginx[" + running + "]";
    }
}
