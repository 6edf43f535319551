package dev.tidegate.real;

import dev.tidegate.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** nginx that serves a directory by HTTP/1.1 and by cleartext HTTP/2, and counts requests. */
record Nginx(Daemon daemon, Path log, String http1, String http2) implements AutoCloseable {
    /** What its log says since {@link #forget}. */
    record Counts(long requests, long connections, long receivedBytes, long sentBytes) {}

    static Nginx start(Path directory, Path root) throws IOException {
        var http1 = Daemon.freeAddress();
        var http2 = Daemon.freeAddress();
        Path log = directory.resolve("access.log");
        Path conf = Files.writeString(directory.resolve("nginx.conf"), """
                daemon off;
                master_process off;
                pid %1$s/nginx.pid;
                error_log stderr warn;
                events { worker_connections 4096; }
                http {
                  log_format counts '$connection $status $request_length $bytes_sent';
                  access_log %1$s/access.log counts;
                  client_body_temp_path %1$s/body;
                  proxy_temp_path %1$s/proxy;
                  fastcgi_temp_path %1$s/fastcgi;
                  uwsgi_temp_path %1$s/uwsgi;
                  scgi_temp_path %1$s/scgi;
                  keepalive_requests 1000000;
                  root %2$s;
                  server { listen %3$s; }
                  server { listen %4$s http2; access_log off; }
                }
                """.formatted(
                        directory, root, Daemon.hostPort(http1), Daemon.hostPort(http2)));
        Daemon daemon = Daemon.start(http2, directory, "nginx", "-e", "stderr", "-c", conf.toString());
        return new Nginx(daemon, log, endpoint(http1), endpoint(http2));
    }

    private static String endpoint(InetSocketAddress address) {
        return "{address: \"" + Daemon.hostPort(address) + "\"}";
    }

    /** Empties the log; nginx appends to it. */
    void forget() throws IOException {
        Files.writeString(log, "");
    }

    /** Waits until at least so many requests are in the log. */
    Counts awaitRequests(long least) {
        Await.until(least + " requests in " + log, () -> lines().size() >= least);
        List<String[]> requests =
                lines().stream().map(line -> line.split(" ", -1)).toList();
        return new Counts(
                requests.size(),
                requests.stream().map(fields -> fields[0]).distinct().count(),
                requests.stream().mapToLong(fields -> Long.parseLong(fields[2])).sum(),
                requests.stream().mapToLong(fields -> Long.parseLong(fields[3])).sum());
    }

    private List<String> lines() {
        try {
            return Files.readAllLines(log);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + log, e);
        }
    }

    @Override
    public void close() {
        daemon.close();
    }
}
