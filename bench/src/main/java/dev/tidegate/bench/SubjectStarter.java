package dev.tidegate.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Starts what is compared, each pinned to the same cores and set up alike: as many workers, the same endpoints, 16 KiB
 * buffers, no log, half-close passed on.
 */
final class SubjectStarter {
    private static final int READY_SECONDS = 60;
    private static final int CONNECT_TIMEOUT_MILLIS = 1_000;
    private static final int LOG_TAIL_LINES = 20;
    /** Below what the kernel takes source ports from, so that no connection of the load takes the place of a listener. */
    private static final int FIRST_PORT = 20_000;

    private static final int PORTS = 10_000;

    private final Children children;
    private final Path directory;
    private final InetSocketAddress backend;
    private final String cores;
    private final int maxConnections;
    private final TidegateLauncher tidegate;
    private int nextPort = FIRST_PORT + (int) (ProcessHandle.current().pid() % PORTS);

    SubjectStarter(
            Children children,
            Path directory,
            InetSocketAddress backend,
            String cores,
            int maxConnections,
            TidegateLauncher tidegate) {
        this.children = children;
        this.directory = directory;
        this.backend = backend;
        this.cores = cores;
        this.maxConnections = maxConnections;
        this.tidegate = tidegate;
    }

    /** Every name that {@link #start} knows, in the order of the tables. */
    static List<String> names() {
        List<String> names = new ArrayList<>(List.of(Subject.DIRECT, Subject.HAPROXY, Subject.NGINX));
        NettySubject.all().forEach(subject -> names.add(subject.name()));
        return names;
    }

    /** Starts {@code name} and waits until its port accepts; throws with the end of its log when it does not. */
    Subject start(String name) throws IOException, InterruptedException {
        return start(name, Shape.SMALLEST);
    }

    /** The same, of that shape; a bare forwarder has none but the smallest. */
    Subject start(String name, Shape shape) throws IOException, InterruptedException {
        if (name.equals(Subject.DIRECT)) {
            return Subject.direct(backend);
        }
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort());
        Path log = directory.resolve(name + ".log");
        List<String> command = new ArrayList<>(List.of("taskset", "-c", cores));
        command.addAll(command(name, address, shape));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        // Runtime state belongs beside the generated configuration, not in somebody's home.
        builder.environment()
                .putAll(Map.of("XDG_STATE_HOME", directory.toString(), "XDG_RUNTIME_DIR", directory.toString()));
        Process process = children.start(builder);
        awaitReady(name, process, address, log);
        boolean isJvm = NettySubject.named(name).isPresent();
        return new Subject(name, address, process, measuredPid(name, process), isJvm, List.copyOf(command));
    }

    private List<String> command(String name, InetSocketAddress address, Shape shape) throws IOException {
        if (name.equals(Subject.HAPROXY)) {
            return List.of("haproxy", "-db", "-f", write("haproxy.cfg", haproxy(address, shape)));
        }
        if (name.equals(Subject.NGINX)) {
            return List.of("nginx", "-p", directory.toString(), "-c", write("nginx.conf", nginx(address, shape)));
        }
        NettySubject subject = NettySubject.named(name)
                .orElseThrow(
                        () -> new IllegalArgumentException("\"" + name + "\" is not known; use one of " + names()));
        if (subject.isBare()) {
            return tidegate.sameJvm(
                    subject.jvmFlags(),
                    BareForwarder.class.getName(),
                    "--transport",
                    subject.transport().word(),
                    "--listen",
                    Integer.toString(address.getPort()),
                    "--target",
                    HostPort.format(backend));
        }
        return List.of(
                tidegate.script().toString(),
                "run",
                "--config",
                write(name + ".yaml", tidegate(subject, address, shape)));
    }

    private String write(String file, String content) throws IOException {
        return Files.writeString(directory.resolve(file), content).toString();
    }

    private String haproxy(InetSocketAddress address, Shape shape) {
        return """
                global
                    nbthread %d
                    maxconn %d
                defaults
                    mode tcp
                    maxconn %d
                    timeout connect 5s
                    timeout client 1h
                    timeout server 1h
                frontend bench
                    bind %s backlog 4096
                    default_backend bench
                backend bench
                %s
                """.formatted(
                shape.workers(),
                maxConnections,
                maxConnections,
                HostPort.format(address),
                (shape.endpoints() == 1 ? "" : "    balance random\n") + eachEndpoint(shape, "    server e%d %s"));
    }

    private String nginx(InetSocketAddress address, Shape shape) throws IOException {
        return """
                %s
                daemon off;
                worker_processes %d;
                worker_rlimit_nofile %d;
                pid %s/nginx.pid;
                error_log stderr warn;
                events {
                    worker_connections %d;
                }
                stream {
                    upstream bench {
                %s
                    }
                    server {
                        listen %s backlog=4096;
                        proxy_pass bench;
                        proxy_buffer_size 16k;
                        proxy_half_close on;
                        proxy_timeout 1h;
                        tcp_nodelay on;
                    }
                }
                """.formatted(
                nginxStreamModule().map(path -> "load_module " + path + ";").orElse(""),
                shape.workers(),
                2 * maxConnections + 100,
                directory,
                2 * maxConnections + 50,
                (shape.endpoints() == 1 ? "" : "        random two least_conn;\n")
                        + eachEndpoint(shape, "        server %2$s; # %1$d"),
                HostPort.format(address));
    }

    private String eachEndpoint(Shape shape, String line) {
        List<InetSocketAddress> addresses = shape.addresses(backend);
        return IntStream.range(0, addresses.size())
                .mapToObj(place -> line.formatted(place, HostPort.format(addresses.get(place))))
                .collect(Collectors.joining("\n"));
    }

    /** Where nginx has the stream module as a file of its own; empty where it is built in. */
    static Optional<Path> nginxStreamModule() throws IOException {
        String build = Tool.output("nginx", "-V");
        for (String argument : build.split("\\s+", -1)) {
            if (argument.startsWith("--modules-path=")) {
                Path module = Path.of(argument.substring("--modules-path=".length()), "ngx_stream_module.so");
                return Files.exists(module) ? Optional.of(module) : Optional.empty();
            }
        }
        return Optional.empty();
    }

    private String tidegate(NettySubject subject, InetSocketAddress address, Shape shape) {
        return """
                process:
                  workers: %d
                  transport: %s
                admin:
                  listen: "unix:%s/%s.sock"
                log:
                  level: warn
                  access: {path: none}
                frontends:
                  - name: bench
                    listen: ["%s"]
                    backend: bench
                    protocol: %s
                backends:
                  - name: bench
                    endpoints:
                %s
                """.formatted(
                        shape.workers(),
                        subject.transport().word(),
                        directory,
                        subject.name(),
                        HostPort.format(address),
                        subject.isWatched() ? "auto" : "tcp",
                        eachEndpoint(shape, "      - {name: e%d, address: \"%s\"}"));
    }

    private static void awaitReady(String name, Process process, InetSocketAddress address, Path log)
            throws IOException, InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
        while (!accepts(address)) {
            if (process.waitFor(50, TimeUnit.MILLISECONDS)) {
                throw new IOException(name + " ended with exit code " + process.exitValue() + " before "
                        + HostPort.format(address) + " accepted:\n" + tail(log));
            }
            if (System.nanoTime() - deadlineNanos >= 0) {
                throw new IOException(name + ": " + HostPort.format(address) + " does not accept after " + READY_SECONDS
                        + " s:\n" + tail(log));
            }
        }
    }

    private static boolean accepts(InetSocketAddress address) {
        try (Socket socket = new Socket()) {
            socket.connect(address, CONNECT_TIMEOUT_MILLIS);
            return true;
        } catch (IOException e) {
            return false; // not yet; the caller bounds how long
        }
    }

    private static String tail(Path log) throws IOException {
        List<String> lines = Files.readAllLines(log);
        return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_TAIL_LINES), lines.size()));
    }

    private static long measuredPid(String name, Process process) throws IOException {
        if (!name.equals(Subject.NGINX)) {
            return process.pid();
        }
        return process.children()
                .findFirst()
                .orElseThrow(() -> new IOException("nginx (pid " + process.pid() + ") has no worker process"))
                .pid();
    }

    private int freePort() throws IOException {
        for (int tried = 0; tried < PORTS; tried++) {
            int port = nextPort;
            nextPort = nextPort == FIRST_PORT + PORTS ? FIRST_PORT : nextPort + 1;
            if (isFree(port)) {
                return port;
            }
        }
        throw new IOException("no free port from " + FIRST_PORT + " to " + (FIRST_PORT + PORTS));
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false; // somebody else's
        }
    }
}
