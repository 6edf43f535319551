package dev.tidegate.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A proxy before several endpoints, the last of which joins while it runs. */
final class LifetimeSubject {
    private static final int READY_SECONDS = 60;

    private final Kind kind;
    private final Path directory;
    private final List<InetSocketAddress> endpoints;
    private final String lifetime;
    private final InetSocketAddress address;
    private Process process;

    /** What is compared. */
    enum Kind {
        TIDEGATE("tidegate", "Tidegate, `grace: 30s`"),
        TIDEGATE_CUT("tidegate-cut", "a plain cut at `max-age`: Tidegate with `protocol: tcp`, `grace: 0s`"),
        HAPROXY("haproxy", "HAProxy, `mode tcp`, `leastconn`"),
        NGINX("nginx", "nginx `stream`, `least_conn`");

        private final String word;
        private final String title;

        Kind(String word, String title) {
            this.word = word;
            this.title = title;
        }

        String word() {
            return word;
        }

        String title() {
            return title;
        }
    }

    private LifetimeSubject(
            Kind kind, Path directory, List<InetSocketAddress> endpoints, String lifetime, InetSocketAddress address) {
        this.kind = kind;
        this.directory = directory;
        this.endpoints = endpoints;
        this.lifetime = lifetime;
        this.address = address;
    }

    /**
     * Starts it before all endpoints but the last, and waits until it accepts.
     *
     * @param lifetime in Tidegate's configuration
     */
    static LifetimeSubject start(
            Kind kind,
            Children children,
            Path directory,
            List<InetSocketAddress> endpoints,
            String lifetime,
            Path script)
            throws IOException, InterruptedException {
        InetSocketAddress address;
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            address = (InetSocketAddress) probe.getLocalSocketAddress();
        }
        LifetimeSubject subject = new LifetimeSubject(kind, directory, endpoints, lifetime, address);
        subject.configure(endpoints.size() - 1);
        Path log = directory.resolve(kind.word() + ".log");
        ProcessBuilder builder = new ProcessBuilder(subject.command(script))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment()
                .putAll(Map.of("XDG_STATE_HOME", directory.toString(), "XDG_RUNTIME_DIR", directory.toString()));
        subject.process = children.start(builder);
        subject.awaitReady(log);
        return subject;
    }

    InetSocketAddress address() {
        return address;
    }

    Process process() {
        return process;
    }

    private List<String> command(Path script) {
        return switch (kind) {
            case TIDEGATE, TIDEGATE_CUT -> List.of(script.toString(), "run", "--config", file().toString());
            case HAPROXY -> List.of("haproxy", "-db", "-f", file().toString());
            case NGINX -> List.of("nginx", "-p", directory.toString(), "-c", file().toString());
        };
    }

    private Path file() {
        return directory.resolve(kind.word() + ".conf");
    }

    private Path socket() {
        return directory.resolve("haproxy.sock");
    }

    /** The last endpoint joins, in the way that each proxy has for it. */
    void join() throws IOException {
        if (kind == Kind.HAPROXY) {
            haproxy("set server back/e" + (endpoints.size() - 1) + " state ready\n");
            return;
        }
        configure(endpoints.size());
        Tool.output("kill", "-HUP", Long.toString(process.pid()));
    }

    private void haproxy(String command) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket()));
            channel.write(ByteBuffer.wrap(command.getBytes(StandardCharsets.US_ASCII)));
            ByteBuffer answer = ByteBuffer.allocate(1024);
            while (channel.read(answer) >= 0 && answer.hasRemaining()) {
                // until it has said all
            }
            String said = new String(answer.array(), 0, answer.position(), StandardCharsets.US_ASCII).strip();
            if (!said.isEmpty()) {
                throw new IOException("haproxy says to \"" + command.strip() + "\": " + said);
            }
        }
    }

    private void configure(int present) throws IOException {
        Files.writeString(
                file(),
                switch (kind) {
                    case TIDEGATE -> tidegate(present, "auto");
                    case TIDEGATE_CUT -> tidegate(present, "tcp");
                    case HAPROXY -> haproxyConfiguration(present);
                    case NGINX -> nginx(present);
                });
    }

    private String tidegate(int present, String protocol) {
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < present; i++) {
            list.append("      - {name: e%d, address: \"%s\"}\n".formatted(i, HostPort.format(endpoints.get(i))));
        }
        return """
                admin: {listen: "unix:%s/%s.sock"}
                log: {access: {path: none}}
                frontends:
                  - name: front
                    listen: "%s"
                    backend: back
                    protocol: %s
                    lifetime: {%s}
                backends:
                  - name: back
                    balance: power-of-two
                    endpoints:
                %s""".formatted(directory, kind.word(), HostPort.format(address), protocol, lifetime, list);
    }

    private String haproxyConfiguration(int present) {
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < endpoints.size(); i++) {
            list.append("    server e%d %s%s\n"
                    .formatted(i, HostPort.format(endpoints.get(i)), i < present ? "" : " disabled"));
        }
        return """
                global
                    maxconn 8000
                    stats socket %s level admin
                defaults
                    mode tcp
                    timeout connect 5s
                    timeout client 1h
                    timeout server 1h
                frontend front
                    bind %s backlog 4096
                    default_backend back
                backend back
                    balance leastconn
                %s""".formatted(socket(), HostPort.format(address), list);
    }

    private String nginx(int present) throws IOException {
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < present; i++) {
            list.append("    server ").append(HostPort.format(endpoints.get(i))).append(";\n");
        }
        return """
                %s
                daemon off;
                worker_processes 1;
                worker_rlimit_nofile 18000;
                pid %s/nginx.pid;
                error_log stderr warn;
                events { worker_connections 17000; }
                stream {
                  upstream back {
                    least_conn;
                %s  }
                  server { listen %s backlog=4096; proxy_pass back; proxy_timeout 1h; tcp_nodelay on; }
                }
                """.formatted(
                        SubjectStarter.nginxStreamModule()
                                .map(path -> "load_module " + path + ";")
                                .orElse(""),
                        directory,
                        list,
                        HostPort.format(address));
    }

    private void awaitReady(Path log) throws IOException, InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
        while (!accepts()) {
            if (process.waitFor(50, TimeUnit.MILLISECONDS)) {
                throw new IOException(
                        kind.word() + " ended with " + process.exitValue() + ":\n" + Files.readString(log));
            }
            if (System.nanoTime() - deadlineNanos >= 0) {
                throw new IOException(
                        kind.word() + " does not accept after " + READY_SECONDS + " s:\n" + Files.readString(log));
            }
        }
    }

    private boolean accepts() {
        try (Socket socket = new Socket()) {
            socket.connect(address, 1_000);
            return true;
        } catch (IOException e) {
            return false; // not yet; the caller bounds how long
        }
    }
}
