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
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;

/** A side that does not read stops the other; what waits in between is bounded, and given back. */
class BackPressureTest {
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;
    private static final Duration STALL = Duration.ofMillis(150);
    private static final long UNBOUNDED = 1024L * MIB;

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
                        .connect("{timeout: 5s, attempts: 1}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.sendUntilBlocked(2, UNBOUNDED, STALL);

            assertPinnedBelow(PER_DIRECTION + PER_WORKER);
            long received = proxy.sum(row -> row.receivedBytes);
            assertTrue(received > 0 && received <= PER_DIRECTION, () -> received + " bytes taken");
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
                        .connect("{timeout: 60s, attempts: 1}")
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
    void aResetAroundAResumeLeavesNothingBehind(Wish transport) throws IOException {
        resetsAroundResumes(transport, 8);
    }

    @Tag("nightly")
    @EachTransport
    void tenThousandResetsAroundResumesLeaveNothingBehind(Wish transport) throws IOException {
        resetsAroundResumes(transport, 10_000);
    }

    private static void resetsAroundResumes(Wish transport, int rounds) throws IOException {
        Random random = new Random(16);
        byte[] sips = new byte[64 * KIB];
        try (var backend = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.withReceiveBuffer(8 * KIB), Scripts.streamForever(1));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            for (int round = 0; round < rounds; round++) {
                try (ScriptedClient client = ScriptedClient.connect(
                        proxy.address(),
                        ScriptedClient.Options.DEFAULT
                                .withReceiveBuffer(8 * KIB)
                                .withSendBuffer(8 * KIB))) {
                    client.sendUntilBlocked(round, UNBOUNDED, Duration.ofMillis(10));
                    for (int reads = random.nextInt(40); reads > 0; reads--) {
                        client.read(sips);
                    }
                    if (random.nextBoolean()) {
                        client.reset();
                    } else {
                        backend.connection(round).reset();
                    }
                }
                long closed = round + 1L;
                Await.equal("connections closed", closed, proxy::closed);
            }
            assertEquals(rounds, proxy.closed(CloseReason.CLIENT_RESET) + proxy.closed(CloseReason.ENDPOINT_RESET));
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
            for (int cycle = 0; cycle < 5; cycle++) {
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
    void stallingAndResumingKeepsEveryByte(Wish transport) throws IOException {
        stallAndResume(transport, 2);
    }

    @Tag("nightly")
    @EachTransport
    void stallingAndResumingAThousandTimesKeepsEveryByte(Wish transport) throws IOException {
        stallAndResume(transport, 1000);
    }

    private static void stallAndResume(Wish transport, int rounds) throws IOException {
        for (int round = 0; round < rounds; round++) {
            Gate reading = new Gate();
            AtomicLong up = new AtomicLong();
            AtomicLong down = new AtomicLong();
            Gate sent = new Gate();
            try (var backend = ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.withReceiveBuffer(16 * KIB), c -> {
                        reading.pass();
                        c.skip(up.get());
                        down.set(c.sendUntilBlocked(8, UNBOUNDED, STALL));
                        sent.open();
                        c.readToEnd();
                    });
                    var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                    ScriptedClient client = stalledClient(proxy)) {
                up.set(client.sendUntilBlocked(7, UNBOUNDED, STALL));
                reading.open();
                sent.pass();
                client.skip(down.get());

                assertEquals(
                        SeededStream.sha256(7, up.get()), backend.connection(0).sha256());
                assertEquals(SeededStream.sha256(8, down.get()), client.sha256());
                for (Side side : Side.values()) {
                    long pauses = proxy.proxy().counters().get(0).paused(side);
                    assertTrue(pauses > 0, () -> "reading was never paused: the test shows nothing");
                }
                client.shutdownOutput();
                assertEquals(End.Kind.FIN, client.readToEnd().kind());
            }
        }
    }
}
