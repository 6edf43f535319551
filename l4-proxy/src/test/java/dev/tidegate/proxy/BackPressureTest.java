package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Side;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedConnection;
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;

/** A side that does not read stops the other; what waits in between is bounded, and given back. */
class BackPressureTest {
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final Duration STALL = Duration.ofMillis(150);
    private static final long UNBOUNDED = 1024L * MIB;
    private static final int KEY_BYTES = 8;

    /** Per direction: the watermark and one receive buffer, with room for one buffer that is being filled. */
    private static final long PER_DIRECTION = 128L * KIB;

    /** What a worker holds for all: io_uring's ring of receive buffers. */
    private static final long PER_WORKER = 2L * MIB + 512 * KIB;

    private static long pinned() {
        return PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
    }

    private static void assertPinnedBelow(long limit) {
        long pinned = pinned();
        assertTrue(pinned <= limit, () -> pinned / KIB + " KiB of buffers held, at most " + limit / KIB + " expected");
    }

    /** netty/netty#5723. */
    @EachTransport
    @Tag("slow")
    void endpointsThatSendToStalledClientsAreStoppedAndMemoryIsBounded(Wish transport) throws IOException {
        int pairs = 20;
        List<ScriptedClient> clients = new ArrayList<>();
        try (var backend = ScriptedBackend.start(Scripts.streamForever(1));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            for (int i = 0; i < pairs; i++) {
                clients.add(stalledClient(proxy));
            }
            backend.awaitConnections(pairs);
            ResetTest.awaitBlocked(backend.connections());

            assertPinnedBelow(pairs * PER_DIRECTION + PER_WORKER);
            for (ScriptedClient client : clients) {
                client.reset();
            }
            proxy.awaitNoConnections();
        } finally {
            clients.forEach(ScriptedPeer::close);
        }
    }

    private static ScriptedClient stalledClient(ProxyFixture proxy) throws IOException {
        return ScriptedClient.connect(proxy.address(), ScriptedClient.Options.DEFAULT.withReceiveBuffer(16 * KIB));
    }

    /** apache/bookkeeper#1086: the same on the other path. */
    @EachTransport
    @Tag("slow")
    void aClientThatSendsToAStalledEndpointIsStoppedAndMemoryIsBounded(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.neverReading();
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            long sent = client.sendUntilBlocked(2, UNBOUNDED, STALL);

            assertTrue(sent < UNBOUNDED, () -> "the client was never stopped");
            assertPinnedBelow(PER_DIRECTION + PER_WORKER);
            backend.connections().forEach(ScriptedPeer::close);
            proxy.awaitNoConnections();
        }
    }

    /** apache/bookkeeper#1086: bytes that come before there is an endpoint. */
    @EachTransport
    @Tag("slow")
    void bytesBeforeTheEndpointIsConnectedAreBounded(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.blackHole();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{timeout: 1m, attempts: 1, deadline: 5m}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.sendUntilBlocked(2, UNBOUNDED, STALL);

            assertPinnedBelow(PER_DIRECTION + PER_WORKER);
            long received = proxy.sum(row -> row.receivedBytes);
            assertTrue(received > 0 && received <= PER_DIRECTION, () -> received + " bytes taken");
            // The client's end waits behind its bytes for an endpoint that never answers.
            proxy.abandonConnections();
        }
    }

    /** The same in segments of one byte, each of which comes in a receive buffer of its own. */
    @EachTransport
    @Tag("slow")
    void oneByteSegmentsBeforeTheEndpointIsConnectedTakeLittleMemory(Wish transport) throws IOException {
        byte[] bytes = SeededStream.bytes(3, 3000);
        try (var backend = ScriptedBackend.blackHole();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{timeout: 1m, attempts: 1, deadline: 5m}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.sendSliced(bytes, Duration.ofNanos(50_000));
            Await.equal("bytes taken", (long) bytes.length, () -> proxy.sum(row -> row.receivedBytes));

            assertPinnedBelow(PER_DIRECTION + PER_WORKER);
            // The client's end waits behind its bytes for an endpoint that never answers.
            proxy.abandonConnections();
        }
    }

    /** envoyproxy/envoy#3639: a reset while the other side is about to be resumed. */
    @Tag("slow")
    @EachTransport
    void aResetAroundAResumeLeavesNothingBehind(Wish transport) throws Exception {
        resetsAroundResumes(transport, 8);
    }

    @Tag("nightly")
    @EachTransport
    void tenThousandResetsAroundResumesLeaveNothingBehind(Wish transport) throws Exception {
        resetsAroundResumes(transport, 10_000);
    }

    /** Side by side, since the proxy takes its second to give up what a peer that is stalled will not read. */
    private static void resetsAroundResumes(Wish transport, int rounds) throws Exception {
        int atOnce = Math.min(rounds, 100);
        int betweenLooks = 10 * atOnce;
        Random random = new Random(16);
        Map<String, ScriptedConnection> endpoints = new ConcurrentHashMap<>(); // by the first bytes of their streams
        try (var backend = ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.withReceiveBuffer(8 * KIB), c -> {
                    endpoints.put(c.readText(KEY_BYTES), c);
                    Scripts.streamForever(1).run(c);
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            for (int done = 0; done < rounds; ) {
                List<Callable<Void>> some = new ArrayList<>();
                for (; some.size() < betweenLooks && done < rounds; done++) {
                    int round = done;
                    int reads = random.nextInt(40);
                    boolean byClient = random.nextBoolean();
                    some.add(() -> resetAroundResume(proxy, endpoints, round, reads, byClient));
                }
                sideBySide(atOnce, some);
                Await.equal("connections closed", (long) done, proxy::closed);
                assertEquals(0, proxy.active());
                assertEquals(0, proxy.cell(0).inFlight());
                Await.until("buffers given back after round " + done, () -> pinned() <= PER_WORKER);
            }
            assertEquals(rounds, proxy.closed(CloseReason.CLIENT_RESET) + proxy.closed(CloseReason.ENDPOINT_RESET));
        }
    }

    private static Void resetAroundResume(
            ProxyFixture proxy, Map<String, ScriptedConnection> endpoints, int round, int reads, boolean byClient)
            throws IOException {
        byte[] sips = new byte[64 * KIB];
        try (ScriptedClient client = ScriptedClient.connect(
                proxy.address(),
                ScriptedClient.Options.DEFAULT.withReceiveBuffer(8 * KIB).withSendBuffer(8 * KIB))) {
            client.sendUntilBlocked(round, UNBOUNDED, Duration.ofMillis(10));
            for (int left = reads; left > 0; left--) {
                client.read(sips);
            }
            Await.until("round " + round + " has come to the endpoint", () -> endpoints.containsKey(key(round)));
            ScriptedConnection endpoint = endpoints.remove(key(round));
            if (byClient) {
                client.reset();
            } else {
                endpoint.reset();
            }
        }
        return null;
    }

    /** Runs all, no more than that many at a time. Fails as the first did that failed. */
    private static void sideBySide(int atOnce, List<Callable<Void>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(atOnce);
        try {
            for (Future<Void> each : threads.invokeAll(tasks)) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** envoyproxy/envoy#32900. */
    @Tag("slow")
    @EachTransport
    void connectionsThatReadGoOnBesideManyThatDoNot(Wish transport) throws IOException {
        List<ScriptedClient> stalled = new ArrayList<>();
        try (var streaming = ScriptedBackend.start(c -> {
                    if (c.readText(1).equals("e")) {
                        Scripts.echo().run(c);
                    } else {
                        Scripts.streamForever(1).run(c);
                    }
                });
                var proxy = ProxyFixture.on(transport).endpoint(streaming).start()) {
            long alone = medianRoundTripNanos(proxy);
            for (int i = 0; i < 100; i++) {
                ScriptedClient client = stalledClient(proxy);
                stalled.add(client);
                client.send("s");
            }
            streaming.awaitConnections(110);
            ResetTest.awaitBlocked(streaming.connections().subList(10, 110));

            long beside = medianRoundTripNanos(proxy);

            // Far above what a busy machine adds, far below what waiting for those that stall would take.
            assertTrue(
                    beside < 10 * alone + 50_000_000,
                    () -> "round trips of " + beside + " ns, and of " + alone + " ns before");
            assertPinnedBelow(101 * PER_DIRECTION + PER_WORKER);
            for (ScriptedClient client : stalled) {
                client.reset();
            }
            proxy.awaitNoConnections();
        } finally {
            stalled.forEach(ScriptedPeer::close);
        }
    }

    /** Over ten connections, one after the other. */
    private static long medianRoundTripNanos(ProxyFixture proxy) throws IOException {
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            try (ScriptedClient client = proxy.connect()) {
                client.send("e");
                for (int round = 0; round < 20; round++) {
                    long sent = System.nanoTime();
                    client.send("ping");
                    assertEquals("ping", client.readText(4));
                    nanos.add(System.nanoTime() - sent);
                }
            }
        }
        return nanos.stream().sorted().skip(nanos.size() / 2).findFirst().orElseThrow();
    }

    /** envoyproxy/envoy#9123. */
    @Tag("slow")
    @EachTransport
    void memoryIsGivenBackCycleAfterCycle(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.streamForever(1));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            int accepted = 0;
            for (int cycle = 0; cycle < 3; cycle++) {
                List<ScriptedClient> clients = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    clients.add(stalledClient(proxy));
                }
                accepted += clients.size();
                backend.awaitConnections(accepted);
                ResetTest.awaitBlocked(backend.connections().subList(accepted - 10, accepted));
                for (ScriptedClient client : clients) {
                    client.reset();
                }
                proxy.awaitNoConnections();
                Await.until("buffers given back, cycle " + cycle, () -> pinned() <= PER_WORKER);
            }
        }
    }

    /** A connection that is stalled and resumed, one way and then the other, loses and mixes nothing. */
    @EachTransport
    @Tag("slow")
    void stallingAndResumingKeepsEveryByte(Wish transport) throws Exception {
        stallAndResume(ProxyFixture.on(transport), ScriptedClient.Options.DEFAULT, 1, 1);
    }

    /** Side by side, and with less in the kernel's buffers, so that a round is a matter of its two stalls. */
    @Tag("nightly")
    @EachTransport
    void stallingAndResumingAThousandTimesKeepsEveryByte(Wish transport) throws Exception {
        stallAndResume(
                ProxyFixture.on(transport).sendBuffers(64 * KIB),
                ScriptedClient.Options.DEFAULT.withSendBuffer(64 * KIB),
                1000,
                20);
    }

    private static void stallAndResume(ProxyFixture.Setup setup, ScriptedClient.Options options, int rounds, int atOnce)
            throws Exception {
        Map<String, Stall> stalls = new ConcurrentHashMap<>(); // by the first bytes of their streams
        try (var backend = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.withReceiveBuffer(16 * KIB),
                        c -> stalls.get(c.readText(KEY_BYTES)).atEndpoint(c));
                var proxy = setup.endpoint(backend).start()) {
            List<Callable<Void>> all = new ArrayList<>();
            for (int i = 0; i < rounds; i++) {
                Stall stall = new Stall(i, rounds + i);
                stalls.put(key(stall.upSeed), stall);
                all.add(() -> stall.atClient(proxy, options.withReceiveBuffer(16 * KIB)));
            }
            sideBySide(atOnce, all);
            for (Side side : Side.values()) {
                long pauses = proxy.proxy().counters().get(0).paused(side);
                assertTrue(pauses >= rounds, () -> side + ": " + pauses + " pauses: some rounds show nothing");
            }
        }
    }

    /** What tells a connection from others, on the endpoint's side too. */
    private static String key(long seed) {
        return new String(SeededStream.bytes(seed, KEY_BYTES), StandardCharsets.ISO_8859_1);
    }

    /** One connection that is stalled on its way up, resumed, and then the same on its way down. */
    private static final class Stall {
        final long upSeed;
        private final long downSeed;
        private final Gate reading = new Gate();
        private final Gate sent = new Gate();
        private volatile ProxyFixture proxy; // writer: the client's thread
        private volatile long up; // writer: the client's thread
        private volatile long down; // writer: the endpoint's thread
        private volatile String upHash; // writer: the endpoint's thread

        Stall(long upSeed, long downSeed) {
            this.upSeed = upSeed;
            this.downSeed = downSeed;
        }

        void atEndpoint(ScriptedConnection endpoint) throws IOException {
            reading.pass();
            endpoint.skip(up - KEY_BYTES);
            upHash = endpoint.sha256();
            down = endpoint.sendUntilBlocked(downSeed, UNBOUNDED, STALL, proxy::awaitTurns);
            sent.open();
            endpoint.readToEnd();
        }

        Void atClient(ProxyFixture over, ScriptedClient.Options options) throws IOException {
            proxy = over;
            try (ScriptedClient client = ScriptedClient.connect(proxy.address(), options)) {
                up = client.sendUntilBlocked(upSeed, UNBOUNDED, STALL, proxy::awaitTurns);
                reading.open();
                sent.pass();
                client.skip(down);

                assertEquals(SeededStream.sha256(upSeed, up), upHash);
                assertEquals(SeededStream.sha256(downSeed, down), client.sha256());
                client.shutdownOutput();
                assertEquals(End.Kind.FIN, client.readToEnd().kind());
            }
            return null;
        }
    }
}
