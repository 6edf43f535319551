package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.RuntimeState;
import dev.tidegate.listener.InheritedSockets;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Frontend;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.EndpointRow;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.FrontendRow;
import dev.tidegate.telemetry.WorkerCounters;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;

/**
 * A real proxy in this JVM, on ephemeral ports, that checks its own books when it is closed: every connection came to
 * its end by itself, every gauge is back at 0, every accepted connection closed with one reason, no deadline armed.
 *
 * <pre>{@code
 * try (var backend = ScriptedBackend.echo();
 *         var proxy = ProxyFixture.on(Wish.EPOLL).endpoint(backend).start()) {
 *     var client = proxy.connect();
 * }
 * }</pre>
 */
public final class ProxyFixture implements AutoCloseable {
    private static final Duration REST_BOUND = Duration.ofSeconds(20);

    private final Proxy proxy;
    private final FloodLog floods;
    private final AtomicLong aheadNanos;
    private final List<AccessRecord> records;
    private volatile boolean abandoned; // writer: the test

    private ProxyFixture(Proxy proxy, FloodLog floods, AtomicLong aheadNanos, List<AccessRecord> records) {
        this.proxy = proxy;
        this.floods = floods;
        this.aheadNanos = aheadNanos;
        this.records = records;
    }

    public static Setup on(TransportChoice.Wish transport) {
        return new Setup(transport);
    }

    /** What to start. Values are those of the configuration, as text. */
    public static final class Setup {
        private final TransportChoice.Wish transport;
        private final List<String> endpoints = new ArrayList<>();
        private String listen = "127.0.0.1:0";
        private String balance = "round-robin";
        private String timeouts = "{idle: 1h}";
        private String connect = "{timeout: 2s}";
        private String shutdown = "{deadline: 5s, spread: 1s}";
        private String frontendExtra = "";
        private String backendExtra = "";
        private int workers = 1;
        private RuntimeState runtime = RuntimeState.EMPTY;
        private int sendBufferBytes;
        private int maxConnections = 4000;
        private boolean accepting = true;
        private DnsServerAddressStreamProvider nameServers = DnsServerAddressStreamProviders.platformDefault();

        private Setup(TransportChoice.Wish transport) {
            this.transport = transport;
        }

        public Setup endpoint(ScriptedBackend backend) {
            return endpoint("{address: \"" + backend.hostPort() + "\"}");
        }

        /** An endpoint in the configuration's words. */
        public Setup endpoint(String yaml) {
            endpoints.add(yaml);
            return this;
        }

        /** One address, or several as a YAML list. */
        public Setup listen(String now) {
            listen = now;
            return this;
        }

        public Setup balance(String now) {
            balance = now;
            return this;
        }

        public Setup timeouts(String now) {
            timeouts = now;
            return this;
        }

        public Setup connect(String now) {
            connect = now;
            return this;
        }

        public Setup shutdown(String now) {
            shutdown = now;
            return this;
        }

        /** More of the backend, such as {@code "outlier: off"}; one key a line. */
        public Setup backend(String yaml) {
            backendExtra += "    " + yaml + "\n";
            return this;
        }

        /** More keys of the frontend, such as {@code max-connections: 5}. */
        public Setup frontend(String yaml) {
            frontendExtra = ", " + yaml;
            return this;
        }

        public Setup workers(int now) {
            workers = now;
            return this;
        }

        /** SO_SNDBUF of the proxy's sockets, so that back-pressure is felt soon; without it the kernel's choice. */
        public Setup sendBuffers(int bytes) {
            sendBufferBytes = bytes;
            return this;
        }

        /** It has its sockets, and accepts nobody before {@link Proxy#accept}. */
        public Setup onlyBound() {
            accepting = false;
            return this;
        }

        public Setup maxConnections(int now) {
            maxConnections = now;
            return this;
        }

        /** What operators had changed before an earlier run ended. */
        public Setup runtime(RuntimeState now) {
            runtime = now;
            return this;
        }

        public Setup nameServers(DnsServerAddressStreamProvider now) {
            nameServers = now;
            return this;
        }

        private String yaml() {
            return """
                    process: {shutdown: %s}
                    frontends:
                      - {name: front, listen: %s, backend: back, timeouts: %s%s}
                    backends:
                      - name: back
                        balance: %s
                        connect: %s
                        endpoints: [%s]
                    %s""".formatted(
                            shutdown,
                            listen.startsWith("[\"") ? listen : "\"" + listen + "\"",
                            timeouts,
                            frontendExtra,
                            balance,
                            connect,
                            String.join(", ", endpoints),
                            backendExtra);
        }

        public ProxyFixture start() throws IOException {
            ConfigResult result =
                    ConfigReader.readText("test.yaml", yaml().getBytes(StandardCharsets.UTF_8), name -> null);
            if (result.config().isEmpty()) {
                throw new AssertionError("the test's configuration is wrong: " + result.problems() + "\n" + yaml());
            }
            TransportChoice choice;
            try {
                choice = TransportChoice.choose(transport);
            } catch (TransportChoice.UnavailableException missing) {
                throw new AssertionError(
                        "tests run on all transports; this machine lacks one: " + missing.getMessage(), missing);
            }
            FloodLog floods = new FloodLog(System::nanoTime);
            AtomicLong aheadNanos = new AtomicLong();
            List<AccessRecord> records = Collections.synchronizedList(new ArrayList<>());
            Proxy proxy = Proxy.prepare(
                    result.config().get(),
                    new Proxy.Parts(
                            sendBufferBytes == 0
                                    ? choice.transport()
                                    : SmallSendBuffers.of(choice.transport(), sendBufferBytes),
                            workers,
                            maxConnections,
                            () -> System.nanoTime() + aheadNanos.get(),
                            42,
                            floods,
                            records::add,
                            nameServers,
                            InstantSource.system(),
                            runtime,
                            state -> CompletableFuture.completedFuture(Optional.empty()),
                            InheritedSockets.NONE));
            try {
                proxy.bind();
                if (accepting) {
                    proxy.accept();
                }
            } catch (IOException failed) {
                proxy.close();
                throw failed;
            }
            return new ProxyFixture(proxy, floods, aheadNanos, records);
        }
    }

    /** The running proxy. */
    public Proxy proxy() {
        return proxy;
    }

    /** Lets that much time pass for its connections, at once. */
    public void pass(Duration time) {
        aheadNanos.addAndGet(time.toNanos());
    }

    /** Where the first listener is bound. */
    public InetSocketAddress address() {
        return proxy.listeningOn().values().iterator().next();
    }

    /** A new client, connected to the first listener. */
    public ScriptedClient connect() throws IOException {
        return ScriptedClient.connect(address());
    }

    /** What the access log was given so far, in order. */
    public List<AccessRecord> records() {
        return List.of(records.toArray(AccessRecord[]::new));
    }

    /** Waits for one more record than there were. */
    public AccessRecord awaitRecord(int index) {
        Await.until("access record " + index, () -> records.size() > index);
        return records.get(index);
    }

    /** Waits for the only connection's end and gives its record. */
    public AccessRecord awaitOnlyRecord() {
        return awaitRecord(0);
    }

    /** The frontend as the current snapshot has it. */
    public Frontend frontend() {
        return proxy.snapshot().frontends().get(0);
    }

    /** The cell of an endpoint, by its place in the configuration. */
    public EndpointCell cell(int endpoint) {
        return frontend().backend().endpoints().at(endpoint).cell();
    }

    /** Waits until that many connects to an endpoint have succeeded, as the proxy sees it. */
    public void awaitConnected(int endpoint, long count) {
        Await.until("connects to endpoint " + endpoint + ": " + count, () -> connected(endpoint) >= count);
    }

    private long connected(int endpoint) {
        long sum = 0;
        for (WorkerCounters counters : proxy.counters()) {
            EndpointRow row = counters.readEndpoint(cell(endpoint).slot());
            sum += row == null ? 0 : row.connects(ConnectResult.OK);
        }
        return sum;
    }

    /** Connections that exist now. */
    public int active() {
        return proxy.connections().active();
    }

    /** A sum over workers of what each counted for the frontend. */
    public long sum(ToLongFunction<FrontendRow> value) {
        long sum = 0;
        for (WorkerCounters counters : proxy.counters()) {
            FrontendRow row = counters.readFrontend(frontend().cell().slot());
            sum += row == null ? 0 : value.applyAsLong(row);
        }
        return sum;
    }

    /** Connections closed for that reason. */
    public long closed(CloseReason reason) {
        return sum(row -> row.closed(reason));
    }

    /** Connections closed for any reason. */
    public long closed() {
        long sum = 0;
        for (CloseReason reason : CloseReason.values()) {
            sum += closed(reason);
        }
        return sum;
    }

    /** Waits until no connection is left. */
    public void awaitNoConnections() {
        Await.until("no connection left", () -> active() == 0);
    }

    /** Waits until every worker has looked at all its sockets once more. */
    public void awaitTurns() {
        // The first may be taken by a turn that has done with them.
        armedDeadlines(proxy);
        armedDeadlines(proxy);
    }

    /** This test means to leave connections open: {@link #close} will abort them, and not wait for their own end. */
    public void abandonConnections() {
        abandoned = true;
    }

    /**
     * Waits until every connection has ended by itself and left nothing behind, ends all, and checks the books. Close
     * clients before it: they are declared after it.
     */
    @Override
    public void close() {
        try {
            if (!abandoned && !proxy.stopped().isDone()) {
                awaitAtRest();
            }
        } finally {
            proxy.close();
            floods.close();
        }
        assertEquals(List.of(), connectionsLeft(), "left after the proxy's end");
        assertEquals(sum(row -> row.accepted), closed(), "accepted = closed");
        assertMetricsAreTheSumOfTheRecords();
    }

    /** Metrics and the access log are told of the same events, so they must come to the same sums. */
    private void assertMetricsAreTheSumOfTheRecords() {
        List<AccessRecord> all = records();
        for (CloseReason reason : CloseReason.values()) {
            if (reason != CloseReason.REJECTED_LIMIT) { // which has no line of its own
                long logged =
                        all.stream().filter(record -> record.reason == reason).count();
                assertEquals(logged, closed(reason), "connections closed by " + reason);
            }
        }
        long received = all.stream().mapToLong(record -> record.bytesReceived).sum();
        assertEquals(received, sum(row -> row.receivedBytes), "bytes received");
        long sent = all.stream().mapToLong(record -> record.bytesSent).sum();
        assertEquals(sent, sum(row -> row.sentBytes), "bytes sent");
    }

    private void awaitAtRest() {
        if (!Await.tryUntil(REST_BOUND, () -> left().isEmpty())) {
            throw new AssertionError("with every client closed, " + Await.words(REST_BOUND) + " later there remain "
                    + left() + "; a test that means to leave connections says abandonConnections()");
        }
    }

    /** What a running proxy at rest has none of, in words. */
    private List<String> left() {
        List<String> left = connectionsLeft();
        add(left, "armed deadlines", armedDeadlines(proxy));
        return left;
    }

    /** None where a stop, that the test asked for, has ended the workers meanwhile. */
    static int armedDeadlines(Proxy proxy) {
        try {
            return proxy.armedDeadlines();
        } catch (RejectedExecutionException workersEnded) {
            if (proxy.phase() == Proxy.Phase.STOPPED) {
                return 0;
            }
            throw workersEnded;
        }
    }

    private List<String> connectionsLeft() {
        List<String> left = new ArrayList<>();
        add(left, "connections", active());
        add(left, "connections of the frontend", frontend().cell().active());
        frontend()
                .backend()
                .endpoints()
                .all()
                .forEach(e -> add(left, "in flight to " + e.name(), e.cell().inFlight()));
        return left;
    }

    private static void add(List<String> left, String what, long count) {
        if (count != 0) {
            left.add(what + ": " + count);
        }
    }
}
