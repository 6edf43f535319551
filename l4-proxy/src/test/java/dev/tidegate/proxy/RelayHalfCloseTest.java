package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;

/** One direction may end before the other: for as long as it moves, and not longer than it may be silent. */
class RelayHalfCloseTest {
    private static final int MIB = 1024 * 1024;

    /** envoyproxy/envoy#2067. */
    @EachTransport
    void aLongAnswerComesWholeAfterTheClientsFin(Wish transport) throws IOException {
        byte[] answer = SeededStream.bytes(21, 10 * MIB);
        try (var backend = ScriptedBackend.start(Scripts.readToEndThenReply(answer));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            client.send("ten bytes!");
            client.shutdownOutput();
            End end = client.readToEnd();

            assertEquals(End.Kind.FIN, end.kind());
            assertEquals(10L * MIB, end.bytes());
            assertEquals(SeededStream.sha256(21, 10 * MIB), end.sha256());
            assertEquals(CloseReason.CLIENT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    /** envoyproxy/envoy#2067, the mirror. */
    @EachTransport
    void aLongUploadArrivesWholeAfterTheEndpointsFin(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.finThenRead());
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.sendSeeded(22, 10 * MIB);
            client.shutdownOutput();
            backend.awaitAllDone();

            assertEquals(
                    SeededStream.sha256(22, 10 * MIB), backend.connection(0).sha256());
            assertEquals(Ending.FIN, backend.connection(0).ending());
            assertEquals(CloseReason.ENDPOINT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    /** A FIN right behind a write that has not completed: io_uring writes are asynchronous. */
    @EachTransport
    @Tag("slow")
    void aFinRightBehindTheLastWriteLosesNothing(Wish transport) throws IOException {
        writeThenFin(transport, 150);
    }

    @Tag("nightly")
    @EachTransport
    void aFinRightBehindTheLastWriteLosesNothingInTenThousandRounds(Wish transport) throws IOException {
        writeThenFin(transport, 10_000);
    }

    private static void writeThenFin(Wish transport, int rounds) throws IOException {
        Random sizes = new Random(99);
        try (var backend = ScriptedBackend.start(Scripts.echo());
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            for (int round = 0; round < rounds; round++) {
                int size = 1 + sizes.nextInt(round % 2 == 0 ? 100 : 60_000);
                try (ScriptedClient client = proxy.connect()) {
                    client.sendSeeded(round, size);
                    client.shutdownOutput();
                    End end = client.readToEnd();

                    assertEquals(End.Kind.FIN, end.kind(), "round " + round);
                    assertEquals(SeededStream.sha256(round, size), end.sha256(), "round " + round);
                }
            }
            Await.equal("connections closed", (long) rounds, () -> proxy.closed(CloseReason.CLIENT_CLOSED));
        }
    }

    /** traefik/traefik#5366. */
    @EachTransport
    @Tag("slow")
    void aPairThatStaysSilentAfterTheClientsFinIsReset(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{half-closed: 300ms}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.send("x");
            client.shutdownOutput();

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            Await.equal(
                    "the endpoint's end",
                    Ending.RST,
                    () -> backend.connection(0).ending());
            assertHalfClosedTimeout(proxy, 300);
        }
    }

    /** traefik/traefik#5366, the mirror. */
    @EachTransport
    @Tag("slow")
    void aPairThatStaysSilentAfterTheEndpointsFinIsReset(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.finThenRead());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{half-closed: 300ms}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            backend.awaitAllDone();

            assertEquals(Ending.RST, backend.connection(0).ending());
            assertHalfClosedTimeout(proxy, 300);
        }
    }

    private static void assertHalfClosedTimeout(ProxyFixture proxy, long millis) {
        var record = proxy.awaitOnlyRecord();
        assertEquals(CloseReason.HALF_CLOSED_TIMEOUT, record.reason);
        long lasted = TimeUnit.NANOSECONDS.toMillis(record.durationNanos);
        assertTrue(lasted >= millis - 20 && lasted < millis + 8000, () -> "lasted " + lasted + " ms");
    }

    /** traefik/traefik#5366: a pair that still carries data is not cut. */
    @Tag("slow")
    @EachTransport
    void aHalfClosedPairThatStillCarriesBytesIsNotCut(Wish transport) throws IOException {
        byte[] drops = SeededStream.bytes(4, 14);
        try (var backend = ScriptedBackend.start(c -> {
                    c.readToEnd();
                    c.sendSliced(drops, Duration.ofMillis(100));
                });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{half-closed: 1s}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.shutdownOutput();
            End end = client.readToEnd();

            assertEquals(End.Kind.FIN, end.kind());
            assertEquals(drops.length, end.bytes());
            assertEquals(CloseReason.CLIENT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    /** netty/netty#4082. */
    @EachTransport
    @Tag("slow")
    void halfClosedSilentPairsDoNotWakeTheWorker(Wish transport) throws IOException, InterruptedException {
        halfClosedPairsRest(transport, 30, Duration.ofMillis(300));
    }

    @Tag("nightly")
    @EachTransport
    void halfClosedSilentPairsDoNotWakeTheWorkerForAMinute(Wish transport) throws IOException, InterruptedException {
        halfClosedPairsRest(transport, 500, Duration.ofSeconds(60));
    }

    private static void halfClosedPairsRest(Wish transport, int pairs, Duration busy)
            throws IOException, InterruptedException {
        List<ScriptedClient> clients = new ArrayList<>();
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{half-closed: 5m}")
                        .start()) {
            for (int i = 0; i < pairs; i++) {
                ScriptedClient client = proxy.connect();
                clients.add(client);
                client.send("x");
                client.shutdownOutput();
            }
            Await.until(
                    "every endpoint saw the FIN",
                    () -> backend.connections().size() == pairs
                            && backend.connections().stream().allMatch(c -> c.ending() == Ending.FIN));

            long percent = WorkerCpu.find().percentOfASpinningThread(busy);

            assertTrue(percent < 25, () -> "the worker used " + percent + " % of what a spinning thread does");
            assertEquals(pairs, proxy.active());
            backend.connections().forEach(ScriptedPeer::close);
            proxy.awaitNoConnections();
        } finally {
            clients.forEach(ScriptedPeer::close);
        }
    }

    /** A client that sends FIN, then RST: epoll tells of neither until something is written, and wakes without end. */
    @EachTransport
    @Tag("slow")
    void aResetAfterTheClientsFinEndsThePairAndSpinsNothing(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts(halfClosedUntilReset(transport))
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.send("x");
            client.shutdownOutput();
            Await.equal(
                    "the endpoint's end",
                    Ending.FIN,
                    () -> backend.connection(0).ending());
            WorkerCpu cpu = WorkerCpu.find();
            long before = cpu.nanos();
            client.reset();
            var record = proxy.awaitOnlyRecord();

            assertResetSeen(transport, record.reason, CloseReason.CLIENT_RESET);
            assertRested(cpu.nanos() - before);
            Await.equal(
                    "the endpoint's end",
                    Ending.RST,
                    () -> backend.connection(0).ending());
        }
    }

    @EachTransport
    @Tag("slow")
    void aResetAfterTheEndpointsFinEndsThePairAndSpinsNothing(Wish transport) throws IOException {
        Gate resetting = new Gate();
        try (var backend = ScriptedBackend.start(c -> {
                    c.shutdownOutput();
                    resetting.pass();
                    c.reset();
                });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts(halfClosedUntilReset(transport))
                        .start();
                ScriptedClient client = proxy.connect()) {
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            WorkerCpu cpu = WorkerCpu.find();
            long before = cpu.nanos();
            resetting.open();
            var record = proxy.awaitOnlyRecord();

            assertResetSeen(transport, record.reason, CloseReason.ENDPOINT_RESET);
            assertRested(cpu.nanos() - before);
        }
    }

    /** The same while the endpoint is still being dialed. */
    @EachTransport
    @Tag("slow")
    void aResetAfterTheClientsFinWhileDialingSpinsNothing(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.blackHole();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{timeout: 800ms, attempts: 1, deadline: 800ms}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.send("x");
            client.shutdownOutput();
            Await.until("the proxy has read it", () -> proxy.sum(row -> row.receivedBytes) == 1);
            WorkerCpu cpu = WorkerCpu.find();
            long before = cpu.nanos();
            client.reset();
            var record = proxy.awaitOnlyRecord();

            assertTrue(
                    record.reason == CloseReason.CLIENT_RESET || record.reason == CloseReason.CLIENT_CLOSED,
                    record.reason::word);
            assertRested(cpu.nanos() - before);
        }
    }

    /** nio learns of a reset only by reading or writing: there the half-closed timeout ends it. */
    private static String halfClosedUntilReset(Wish transport) {
        return transport == Wish.NIO ? "{half-closed: 1s}" : "{half-closed: 5m}";
    }

    private static void assertResetSeen(Wish transport, CloseReason is, CloseReason reset) {
        assertEquals(transport == Wish.NIO ? CloseReason.HALF_CLOSED_TIMEOUT : reset, is);
    }

    private static void assertRested(long cpuNanos) {
        assertTrue(cpuNanos < 150_000_000L, () -> "the worker used " + cpuNanos / 1_000_000 + " ms of CPU");
    }

    /** linkerd/linkerd2#8033. */
    @EachTransport
    @Tag("slow")
    void aHalfClosedIdlePairDoesNotOutliveTheStopsDeadline(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 400ms, spread: 100ms}")
                        .start();
                ScriptedClient client = proxy.connect()) {
            client.send("x");
            client.shutdownOutput();
            Await.equal(
                    "the endpoint's end",
                    Ending.FIN,
                    () -> backend.connection(0).ending());
            long start = System.nanoTime();
            proxy.proxy().stopGracefully();
            proxy.proxy().stopped().get(10, TimeUnit.SECONDS);
            long millis = (System.nanoTime() - start) / 1_000_000;

            assertTrue(millis < 8000, () -> "stopped after " + millis + " ms");
            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.SHUTDOWN, record.reason);
            assertEquals(RetireHow.CUT, record.how);
            assertEquals(1, proxy.sum(row -> row.retired(CloseReason.SHUTDOWN, RetireHow.CUT)));
        }
    }

    /** windtf/wireproxy#130. */
    @EachTransport
    void aClientThatStaysOpenSeesTheEndpointsFullCloseAtOnce(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(c -> c.send("hello"));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            assertEquals("hello", client.readText(5));
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
        }
    }

    /** windtf/wireproxy#159: what the endpoint writes to a client that has closed brings the reset. */
    @EachTransport
    void anEndpointThatWritesToAClosedClientIsReset(Wish transport) throws IOException {
        Gate writing = new Gate();
        try (var backend = ScriptedBackend.start(c -> {
                    c.readToEnd();
                    writing.pass();
                    c.send("1");
                    c.sendSeeded(3, 64L * MIB);
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            client.send("x");
            client.channel().close();
            Await.equal(
                    "the endpoint's end",
                    Ending.FIN,
                    () -> backend.connection(0).ending());
            writing.open();
            backend.awaitAllDone();

            assertEquals(Ending.RST, backend.connection(0).ending());
            assertEquals(CloseReason.CLIENT_RESET, proxy.awaitOnlyRecord().reason);
        }
    }

    /** haproxy/haproxy#136. */
    @EachTransport
    @Tag("slow")
    void clientsThatCloseWhileTheEndpointIsBeingDialedLeaveNothingBehind(Wish transport) throws IOException {
        int clients = 100;
        try (var backend = ScriptedBackend.blackHole();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{timeout: 200ms, attempts: 3, deadline: 2s}")
                        .start()) {
            for (int i = 0; i < clients; i++) {
                try (ScriptedClient client = proxy.connect()) {
                    client.sendSeeded(i, 200);
                }
            }
            Await.equal("connections closed", (long) clients, proxy::closed);

            assertEquals(clients, proxy.closed(CloseReason.CLIENT_CLOSED));
            Await.equal(
                    "sockets in CLOSE_WAIT",
                    0L,
                    () -> Sockets.count(Sockets.State.CLOSE_WAIT, Sockets.at(proxy.address())));
        }
    }
}
