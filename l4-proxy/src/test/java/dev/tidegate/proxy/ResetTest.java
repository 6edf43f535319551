package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;

/** Resets, and the last bytes before an end. */
class ResetTest {
    private static final int MIB = 1024 * 1024;
    private static final int SMALL_BUFFER = 32 * 1024;
    private static final Duration STALL = Duration.ofMillis(150);

    /** netty/netty#6391: the end is known long before the bytes in front of it have been read. */
    @EachTransport
    void bytesThatWaitBehindASlowClientArriveAfterTheEndpointHasClosed(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(c -> c.sendSeeded(5, 6 * MIB));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = ScriptedClient.connect(
                        proxy.address(), ScriptedClient.Options.DEFAULT.withReceiveBuffer(SMALL_BUFFER))) {
            backend.connection(0);
            backend.awaitAllDone();
            End end = client.readToEnd();

            assertEquals(End.Kind.FIN, end.kind());
            assertEquals(6L * MIB, end.bytes());
            assertEquals(SeededStream.sha256(5, 6 * MIB), end.sha256());
            client.channel().close();
            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.ENDPOINT_CLOSED, record.reason);
            assertEquals(6L * MIB, record.bytesSent);
        }
    }

    /**
     * envoyproxy/envoy#6392: timers count from the last progress, not from the FIN, and a kernel that still delivers is
     * progress. nio cannot ask the kernel.
     */
    @Tag("slow")
    @NativeTransports
    void aSlowClientGetsAllOfALongAnswerUnderTheShortestTimeouts(Wish transport) throws IOException {
        slowClient(transport, 3 * MIB / 2, 700_000);
    }

    @Tag("nightly")
    @NativeTransports
    void aSlowClientGetsAllOfTwentyMegabytesUnderTheShortestTimeouts(Wish transport) throws IOException {
        slowClient(transport, 20 * MIB, MIB);
    }

    private static void slowClient(Wish transport, int bytes, int bytesPerSecond) throws IOException {
        try (var backend = ScriptedBackend.start(c -> {
                    c.sendSeeded(6, bytes);
                    c.shutdownOutput();
                    c.readToEnd();
                });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{idle: 1s, half-closed: 1s}")
                        .start();
                ScriptedClient client = ScriptedClient.connect(
                        proxy.address(), ScriptedClient.Options.DEFAULT.withReceiveBuffer(SMALL_BUFFER))) {
            sip(client, bytes, bytesPerSecond);

            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            assertEquals(SeededStream.sha256(6, bytes), client.sha256());
            client.channel().close();
            assertEquals(CloseReason.ENDPOINT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    /** Reads at a pace: the pace is the fault that is played here. */
    private static void sip(ScriptedClient client, int bytes, int bytesPerSecond) throws IOException {
        long startNanos = System.nanoTime();
        int sip = bytesPerSecond / 50;
        for (int left = bytes; left > 0; left -= sip) {
            client.readExactly(Math.min(sip, left));
            long dueNanos = startNanos + client.bytesReceived() * 1_000_000_000L / bytesPerSecond;
            while (dueNanos - System.nanoTime() > 0) {
                LockSupport.parkNanos(dueNanos - System.nanoTime());
            }
        }
    }

    /** envoyproxy/envoy#2929: an early answer, then a close with most of the upload unread. */
    @EachTransport
    @Tag("slow")
    void anEarlyAnswerBeforeAResetReachesAClientThatIsStillUploading(Wish transport) throws IOException {
        earlyAnswers(transport, 6, 4 * MIB);
    }

    @Tag("nightly")
    @EachTransport
    void anEarlyAnswerBeforeAResetReachesAClientThatIsStillUploadingEachTime(Wish transport) throws IOException {
        earlyAnswers(transport, 200, 28 * MIB);
    }

    private static void earlyAnswers(Wish transport, int rounds, int upload) throws IOException {
        try (var backend = ScriptedBackend.start(c -> {
                    c.readExactly(1024);
                    c.send("too large");
                    c.awaitAcknowledged();
                    Await.until("bytes that it will not read", () -> unread(c) > 0);
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            for (int round = 0; round < rounds; round++) {
                try (ScriptedClient client = proxy.connect()) {
                    boolean cutShort = false;
                    try {
                        client.sendSeeded(round, upload);
                        client.shutdownOutput();
                    } catch (PeerGoneException gone) {
                        cutShort = true;
                    }
                    End end = client.readToEnd();

                    assertEquals("too large", client.firstText(), "round " + round);
                    assertTrue(end.kind() == End.Kind.RST || cutShort, "round " + round + ": " + end);
                    assertEquals(CloseReason.ENDPOINT_RESET, proxy.awaitRecord(round).reason);
                }
            }
        }
    }

    private static long unread(ScriptedPeer peer) {
        return Sockets.find(peer.localAddress(), peer.remoteAddress())
                .map(Sockets.Entry::receiveQueueBytes)
                .orElse(1L);
    }

    /** envoyproxy/envoy#25615: a reset while nothing is read from the client any more. */
    @EachTransport
    @Tag("slow")
    void aResetByAClientThatDoesNotReadEndsTheEndpointsStream(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.streamForever(8));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            awaitBlocked(backend.connection(0));

            client.reset();
            Await.until(
                    "the endpoint's end",
                    Duration.ofSeconds(2),
                    () -> backend.connection(0).isDone());

            assertEquals(Ending.RST, backend.connection(0).ending());
            assertEquals(CloseReason.CLIENT_RESET, proxy.awaitOnlyRecord().reason);
        }
    }

    /** envoyproxy/envoy#25615, with both directions full: nothing is read from either side. */
    @EachTransport
    @Tag("slow")
    void aResetWhileBothDirectionsAreFullEndsTheOtherSide(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.streamForever(8));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            client.sendUntilBlocked(9, Long.MAX_VALUE, STALL);
            awaitBlocked(backend.connection(0));

            client.reset();
            backend.awaitAllDone();

            assertEquals(Ending.RST, backend.connection(0).ending());
            assertEquals(CloseReason.CLIENT_RESET, proxy.awaitOnlyRecord().reason);
        }
    }

    static void awaitBlocked(ScriptedPeer sender) {
        awaitBlocked(List.of(sender));
    }

    /** Waits until none of them has got a byte out for a while. */
    static void awaitBlocked(List<? extends ScriptedPeer> senders) {
        long[] seen = {0, System.nanoTime()};
        Await.until("senders blocked", Duration.ofSeconds(60), () -> {
            long sent = senders.stream().mapToLong(ScriptedPeer::bytesSent).sum();
            long now = System.nanoTime();
            if (sent != seen[0]) {
                seen[0] = sent;
                seen[1] = now;
            }
            return sent > 0 && now - seen[1] > STALL.toNanos();
        });
    }

    /** netty/netty#4170: how a client sees each cause, the same on every transport. */
    @EachTransport
    @Tag("slow")
    void aClientSeesACleanEndAfterSilenceAndAResetAfterARefusal(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{idle: 200ms}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.channel().close();
            assertEquals(CloseReason.IDLE, proxy.awaitOnlyRecord().reason);
            Await.equal(
                    "the endpoint's end",
                    Ending.FIN,
                    () -> backend.connection(0).ending());
        }
        try (var backend = ScriptedBackend.blackHole();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{timeout: 100ms, attempts: 1}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            assertEquals(End.Kind.RST, client.readToEnd().kind());
            assertEquals(CloseReason.DIAL_TIMEOUT, proxy.awaitOnlyRecord().reason);
        }
    }

    /** netty/netty#4170. */
    @EachTransport
    @Tag("slow")
    void aClientCutAtTheStopsDeadlineSeesAReset(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.streamForever(3));
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 300ms, spread: 0s}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.skip(1000);
            awaitBlocked(backend.connection(0));
            proxy.proxy().stopGracefully();
            var record = proxy.awaitOnlyRecord();

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            proxy.proxy().stopped().get(10, TimeUnit.SECONDS);
            assertEquals(CloseReason.SHUTDOWN, record.reason);
            assertTrue(record.cutMidExchange);
        }
    }

    /** nginx/nginx#456: the client goes on sending after our FIN; a reset would wipe the answer it has not read yet. */
    @Tag("slow")
    @EachTransport
    void aClientThatSendsIntoOurEndStillGetsTheWholeLastAnswer(Wish transport) throws IOException {
        int rounds = 2;
        int answer = 20_000;
        try (var backend = ScriptedBackend.start(c -> {
                    c.readExactly(10);
                    c.sendSeeded(12, answer);
                    c.readToEnd();
                });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{idle: 200ms}")
                        .start()) {
            for (int round = 0; round < rounds; round++) {
                try (ScriptedClient client = proxy.connect()) {
                    client.send("ten bytes!");
                    var endpoint = backend.connection(round);
                    Await.equal("the endpoint's end", Ending.FIN, endpoint::ending);
                    for (int i = 0; i < 5; i++) {
                        client.send("one more request, please");
                    }
                    client.awaitAcknowledged();
                    End end = client.readToEnd();

                    assertEquals(End.Kind.FIN, end.kind());
                    assertEquals(SeededStream.sha256(12, answer), end.sha256());
                }
            }
            Await.equal("ended by silence", (long) rounds, () -> proxy.closed(CloseReason.IDLE));
        }
    }

    /** haproxy/haproxy#2749. */
    @EachTransport
    @Tag("slow")
    void transfersOfAnySizeArriveWholeAndAreCountedSo(Wish transport) throws IOException {
        transfers(transport, 60, 300_000);
    }

    @Tag("nightly")
    @EachTransport
    void tenThousandTransfersArriveWholeAndAreCountedSo(Wish transport) throws IOException {
        transfers(transport, 10_000, 1_000_000);
    }

    private static void transfers(Wish transport, int rounds, int most) throws IOException {
        Random random = new Random(20);
        try (var backend = ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.withReceiveBuffer(SMALL_BUFFER), c -> {
                    int size = Integer.parseInt(c.readText(8));
                    boolean finFirst = c.readText(1).equals("1");
                    c.sendSeeded(size, size);
                    if (finFirst) {
                        c.shutdownOutput();
                    }
                    c.readToEnd();
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            long up = 0;
            long down = 0;
            for (int round = 0; round < rounds; round++) {
                int size = random.nextInt(most);
                int upload = random.nextInt(20_000);
                boolean endpointFirst = random.nextBoolean();
                try (ScriptedClient client = ScriptedClient.connect(
                        proxy.address(),
                        random.nextBoolean()
                                ? ScriptedClient.Options.DEFAULT
                                : ScriptedClient.Options.DEFAULT.withReceiveBuffer(SMALL_BUFFER))) {
                    client.send(String.format("%08d%s", size, endpointFirst ? "1" : "0"));
                    client.sendSeeded(round, upload);
                    if (!endpointFirst) {
                        client.shutdownOutput();
                    }
                    End end = client.readToEnd();
                    client.channel().close();

                    assertEquals(End.Kind.FIN, end.kind());
                    assertEquals(size, end.bytes());
                    assertEquals(SeededStream.sha256(size, size), end.sha256());
                    var record = proxy.awaitRecord(round);
                    assertEquals(
                            endpointFirst ? CloseReason.ENDPOINT_CLOSED : CloseReason.CLIENT_CLOSED,
                            record.reason,
                            "round " + round);
                    assertEquals(size, record.bytesSent);
                    assertEquals(upload + 9, record.bytesReceived);
                    Await.equal("bytes at the endpoint", upload + 9L, backend.connection(round)::bytesReceived);
                    up += upload + 9;
                    down += size;
                }
            }
            assertEquals(up, proxy.sum(row -> row.receivedBytes));
            assertEquals(down, proxy.sum(row -> row.sentBytes));
        }
    }
}
