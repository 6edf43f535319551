package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** What silence a connection may keep, and what is none. */
class SilenceTest {
    private static final int KIB = 1024;
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final int DROPS = 14;
    /** Less than all pauses together, and far more than one. */
    private static final String IDLE = "{idle: 1s, half-closed: 1s}";

    private static final String OFF = "{idle: off, half-closed: off, unacked: off}";

    /** coollabsio/coolify#8200: off means off, and does not mean at once. */
    @EachTransport
    @Tag("slow")
    void offMeansOff(Wish transport) throws IOException {
        longSilence(transport, OFF, Duration.ofMillis(400));
    }

    @Tag("nightly")
    @EachTransport
    void offMeansOffForMinutes(Wish transport) throws IOException {
        longSilence(transport, OFF, Duration.ofMinutes(2));
    }

    /** sysown/proxysql#2224: the longest time that could be configured was no time at all. */
    @EachTransport
    @Tag("slow")
    void theLongestTimeoutsAreNotAtOnce(Wish transport) throws IOException {
        longSilence(transport, "{idle: 365d, half-closed: 365d, unacked: 24d}", Duration.ofMillis(300));
    }

    private static void longSilence(Wish transport, String timeouts, Duration silence) throws IOException {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts(timeouts)
                        .connect("{timeout: 5m, attempts: 10, deadline: 1h}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            long startNanos = System.nanoTime();
            Await.until(
                    "the silence is over",
                    silence.plusSeconds(5),
                    () -> System.nanoTime() - startNanos > silence.toNanos());

            client.send("pong");
            assertEquals("pong", client.readText(4));
            client.shutdownOutput();
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            assertEquals(CloseReason.CLIENT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    /** Start9Labs/start-technologies#3211: the peer's kernel answers probes, its application does not live. */
    @EachTransport
    @Tag("slow")
    void anIdleConnectionEndsCleanlyAlthoughThePeersKernelAnswers(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{idle: 300ms}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            Await.equal(
                    "the endpoint's end",
                    Ending.FIN,
                    () -> backend.connection(0).ending());
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.shutdownOutput();

            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.IDLE, record.reason);
            assertTrue(record.durationNanos >= 280_000_000L, () -> record.durationNanos / 1_000_000 + " ms");
        }
    }

    /** The first second has a look of its own for other things, which a shorter limit must not wait for. */
    @EachTransport
    void aLimitBelowASecondHoldsFromTheStart(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{idle: 100ms}")
                        .start()) {
            long shortest = Long.MAX_VALUE;
            // A busy machine may be late now and then, but not each time.
            for (int i = 0; i < 10 && shortest > 700_000_000L; i++) {
                try (ScriptedClient client = proxy.connect()) {
                    assertEquals(End.Kind.FIN, client.readToEnd().kind());
                    client.shutdownOutput();
                    var record = proxy.awaitRecord(i);
                    assertEquals(CloseReason.IDLE, record.reason);
                    shortest = Math.min(shortest, record.durationNanos);
                }
            }
            long best = shortest;
            assertTrue(best <= 700_000_000L, () -> best / 1_000_000 + " ms");
        }
    }

    /** envoyproxy/envoy#8705: clients that vanish are let go, all of them. */
    @Tag("slow")
    @EachTransport
    void manyIdleConnectionsAllEnd(Wish transport) throws IOException {
        List<ScriptedClient> clients = new ArrayList<>();
        try (var backend = ScriptedBackend.start(Scripts.readToEnd());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{idle: 1h}")
                        .start()) {
            for (int i = 0; i < 100; i++) {
                clients.add(proxy.connect());
            }
            proxy.awaitConnected(0, 100);
            backend.awaitConnections(100);
            proxy.pass(Duration.ofHours(1));
            backend.awaitAllDone();
            // Their clients do not close, and are not waited for longer than this.
            proxy.pass(Duration.ofSeconds(5));
            Await.until("all let go", Duration.ofSeconds(20), () -> proxy.closed(CloseReason.IDLE) == 100);
            assertEquals(0, proxy.active());
        } finally {
            clients.forEach(ScriptedPeer::close);
        }
    }

    @Tag("slow")
    @EachTransport
    void bytesFromTheClientAloneAreNoSilence(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.readToEnd());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts(IDLE)
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.sendSliced(SeededStream.bytes(1, DROPS), PAUSE);
            client.shutdownOutput();

            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            assertEquals(DROPS, backend.connection(0).bytesReceived());
            assertEquals(CloseReason.CLIENT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    @Tag("slow")
    @EachTransport
    void bytesFromTheEndpointAloneAreNoSilence(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.sliced(SeededStream.bytes(1, DROPS), PAUSE));
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts(IDLE)
                        .start();
                ScriptedClient client = proxy.connect()) {
            End end = client.readToEnd();
            client.channel().close();

            assertEquals(End.Kind.FIN, end.kind());
            assertEquals(DROPS, end.bytes());
            assertEquals(CloseReason.ENDPOINT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    /** A blocked write that moves is progress, though no byte comes in from either side. */
    @Tag("slow")
    @NativeTransports
    void aBlockedWriteThatMovesIsNoSilence(Wish transport) throws IOException {
        int rate = 1_500_000; // some two seconds for what is sent
        try (var backend = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.withReceiveBuffer(64 * KIB), Scripts.slowReader(rate));
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts(IDLE)
                        .start();
                ScriptedClient client = proxy.connect()) {
            long sent = client.sendUntilBlocked(1, 3_000_000, Duration.ofMillis(300));
            client.shutdownOutput();
            Await.until(
                    "all is there",
                    Duration.ofSeconds(60),
                    () -> backend.connection(0).bytesReceived() == sent
                            || !proxy.records().isEmpty());

            assertEquals(sent, backend.connection(0).bytesReceived());
            assertEquals(SeededStream.sha256(1, sent), backend.connection(0).sha256());
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            assertEquals(CloseReason.CLIENT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    @EachTransport
    @Tag("slow")
    void aBlockedWriteThatDoesNotMoveIsSilenceAndEndsByReset(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.neverReading();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{idle: 500ms}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.sendUntilBlocked(1, Long.MAX_VALUE, Duration.ofMillis(200));

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            assertEquals(CloseReason.IDLE, proxy.awaitOnlyRecord().reason);
        }
    }
}
