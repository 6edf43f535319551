package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.ReloadResult;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A real proxy in this JVM whose configuration the test replaces, with time that the test can move on. Checks its books
 * when it is closed, of all endpoints and frontends that it ever had.
 */
final class ReloadFixture implements AutoCloseable {
    private static final Duration REST_BOUND = Duration.ofSeconds(20);

    private final Proxy proxy;
    private final FloodLog floods;
    private final AtomicLong aheadNanos;
    private final List<AccessRecord> records;
    private final Set<EndpointCell> endpoints = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<FrontendCell> frontends = Collections.newSetFromMap(new IdentityHashMap<>());
    private volatile boolean abandoned; // writer: the test

    private ReloadFixture(Proxy proxy, FloodLog floods, AtomicLong aheadNanos, List<AccessRecord> records) {
        this.proxy = proxy;
        this.floods = floods;
        this.aheadNanos = aheadNanos;
        this.records = records;
        remember();
    }

    static ReloadFixture start(TransportChoice.Wish transport, String yaml) throws Exception {
        return start(transport, yaml, DnsServerAddressStreamProviders.platformDefault());
    }

    static ReloadFixture start(TransportChoice.Wish transport, String yaml, DnsServerAddressStreamProvider names)
            throws Exception {
        FloodLog floods = new FloodLog(System::nanoTime);
        AtomicLong aheadNanos = new AtomicLong();
        List<AccessRecord> records = new CopyOnWriteArrayList<>();
        Proxy proxy = Proxy.start(
                config(yaml),
                new Proxy.Parts(
                        TransportChoice.choose(transport).transport(),
                        2,
                        4000,
                        () -> System.nanoTime() + aheadNanos.get(),
                        42,
                        floods,
                        records::add,
                        names,
                        InstantSource.system()));
        return new ReloadFixture(proxy, floods, aheadNanos, records);
    }

    /** A port that a frontend can have, move from and come back to. */
    static int port() {
        return FreePort.pick();
    }

    /** Says its name and then sends back what comes. */
    static ScriptedBackend named(String name) {
        return ScriptedBackend.start(
                Scripts.greet(name.getBytes(StandardCharsets.US_ASCII)).then(Scripts.echo()));
    }

    static Config config(String yaml) {
        ConfigResult result = ConfigReader.readText("test.yaml", yaml.getBytes(StandardCharsets.UTF_8), name -> null);
        return result.config()
                .orElseThrow(() ->
                        new AssertionError("the test's configuration is wrong: " + result.problems() + "\n" + yaml));
    }

    /** One frontend, {@code front}, on that port, and one backend, {@code back}, by round-robin over those endpoints. */
    static String yaml(int port, String... endpoints) {
        return yaml("[{name: front, listen: \"127.0.0.1:" + port + "\", backend: back}]", "round-robin", endpoints);
    }

    static String yaml(String frontends, String balance, String... endpoints) {
        return """
                frontends: %s
                backends:
                  - {name: back, balance: %s, endpoints: [%s]}
                """.formatted(frontends, balance, String.join(", ", endpoints));
    }

    static String endpoint(String name, ScriptedBackend backend) {
        return endpoint(name, backend, "weight: 1");
    }

    static String endpoint(String name, ScriptedBackend backend, String more) {
        return "{name: " + name + ", address: \"" + backend.hostPort() + "\", " + more + "}";
    }

    Proxy proxy() {
        return proxy;
    }

    ReloadResult reload(String yaml) throws Exception {
        ReloadResult result = proxy.reload(config(yaml)).get(30, TimeUnit.SECONDS);
        remember();
        return result;
    }

    private void remember() {
        proxy.snapshot().frontends().forEach(frontend -> frontends.add(frontend.cell()));
        proxy.snapshot()
                .backends()
                .forEach(backend -> backend.endpoints().all().forEach(endpoint -> endpoints.add(endpoint.cell())));
    }

    /** Lets that much time pass, at once. */
    void pass(Duration time) {
        aheadNanos.addAndGet(time.toNanos());
    }

    static ScriptedClient connect(int port) throws IOException {
        return ScriptedClient.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /** Connects and reads the endpoint's name, of one letter. */
    static ScriptedClient connectTo(int port, String name) throws IOException {
        ScriptedClient client = connect(port);
        assertEquals(name, client.readText(1));
        return client;
    }

    static void assertEchoes(ScriptedClient client) throws IOException {
        client.send("ping");
        assertEquals("ping", client.readText(4));
    }

    /** Within a moment: nio lets go of a closed listener with its selector's next turn. */
    static void awaitRefused(int port) {
        Await.until("connects to port " + port + " are refused", () -> isRefused(port));
    }

    private static boolean isRefused(int port) {
        try (ScriptedClient client = connect(port)) {
            return !client.isOpen();
        } catch (ConnectException refused) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The cell of an endpoint of backend {@code back}, by name. */
    EndpointCell cell(String name) {
        return proxy.snapshot().backends().get(0).endpoints().all().stream()
                .filter(endpoint -> endpoint.name().equals(name))
                .findFirst()
                .orElseThrow()
                .cell();
    }

    List<AccessRecord> records() {
        return records;
    }

    AccessRecord awaitRecord(int index) {
        Await.until("access record " + index, () -> records.size() > index);
        return records.get(index);
    }

    /** This test means to leave connections open: {@link #close} will abort them, and not wait for their own end. */
    void abandonConnections() {
        abandoned = true;
    }

    /** Waits until every connection has ended by itself and left nothing behind, ends all, and checks the books. */
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
        add(left, "armed deadlines", ProxyFixture.armedDeadlines(proxy));
        return left;
    }

    private List<String> connectionsLeft() {
        List<String> left = new ArrayList<>();
        add(left, "connections", proxy.connections().active());
        frontends.forEach(cell -> add(left, "connections of " + cell.name(), cell.active()));
        endpoints.forEach(cell -> add(left, "in flight to " + cell, cell.inFlight()));
        return left;
    }

    private static void add(List<String> left, String what, long count) {
        if (count != 0) {
            left.add(what + ": " + count);
        }
    }
}
