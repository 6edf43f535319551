package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.Fds;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Counts, gauges and descriptors come back to where they were, whatever clients and endpoints do. */
class BooksTest {
    /** istio/istio#16052: the gauge rose though one connection existed. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void theGaugeIsWhatTheKernelCounts(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy =
                        ProxyFixture.on(transport).endpoint(backend).workers(2).start()) {
            List<ScriptedClient> clients = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                clients.add(echoed(proxy));
            }
            assertEquals(10, proxy.active());
            assertEquals(10, proxy.cell(0).inFlight());
            // The kernel prints its table piece by piece, and may tell twice of one.
            Await.equal("kernel", 10L, () -> established(proxy));
            assertEquals(10, backend.concurrent());

            for (int i = 0; i < 4; i++) {
                clients.get(i).close();
            }

            Await.equal("gauge", 6, proxy::active);
            Await.equal("in flight", 6, () -> proxy.cell(0).inFlight());
            Await.equal("kernel", 6L, () -> established(proxy));
            clients.forEach(ScriptedClient::close);
            proxy.awaitNoConnections();
        }
    }

    /** jaylfc/taOS#474: the count went up on accept and not down when it ended early. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void earlyEndsLeaveNothingBehind(Wish transport) throws Exception {
        endEarly(transport, 60);
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("nightly")
    void aThousandEarlyEndsOfEachKindLeaveNothingBehind(Wish transport) throws Exception {
        endEarly(transport, 1_000);
    }

    private static void endEarly(Wish transport, int rounds) throws Exception {
        try (var refusing = ScriptedBackend.refusing();
                var hole = ScriptedBackend.blackHole()) {
            int base = Fds.countInThisJvm();
            for (String endpoint : List.of(
                    "{address: \"" + refusing.hostPort() + "\"}",
                    "{address: \"" + hole.hostPort() + "\"}",
                    "{address: \"" + refusing.hostPort() + "\", weight: 0}")) {
                try (var proxy = ProxyFixture.on(transport)
                        .endpoint(endpoint)
                        .connect("{timeout: 20ms, attempts: 1}")
                        .start()) {
                    // What the process opens once and keeps.
                    resetClient(proxy);
                    proxy.awaitNoConnections();
                    int before = Fds.countInThisJvm();
                    for (int i = 0; i < rounds; i++) {
                        if (i % 4 == 3) {
                            goAtOnce(proxy);
                        } else {
                            resetClient(proxy);
                        }
                    }
                    // Some may still wait to be accepted.
                    Await.equal("closed", rounds + 1L, proxy::closed);
                    Await.until("descriptors are back from " + before, () -> Fds.countInThisJvm() <= before);
                    assertEquals(0, proxy.cell(0).inFlight());
                }
            }
            Await.until("all descriptors are back from " + base, () -> Fds.countInThisJvm() <= base + 2);
        }
    }

    /** haproxy/haproxy#2078: counts that were not lowered made a server look full. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void afterAbortsInEveryPhaseAnEndpointsLimitHasAllItsRoom(Wish transport) throws Exception {
        abortInEveryPhase(transport, 600);
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("nightly")
    void afterTenThousandAbortsAnEndpointsLimitHasAllItsRoom(Wish transport) throws Exception {
        abortInEveryPhase(transport, 10_000);
    }

    private static void abortInEveryPhase(Wish transport, int rounds) throws Exception {
        Random random = new Random(17);
        try (var backend = ScriptedBackend.start(connection -> {
                    if (connection.index() % 5 == 0) {
                        connection.reset();
                    } else {
                        Scripts.echo().run(connection);
                    }
                });
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{address: \"" + backend.hostPort() + "\", max-connections: 10}")
                        .workers(2)
                        .start()) {
            for (int i = 0; i < rounds; i++) {
                try (ScriptedClient client = proxy.connect()) {
                    switch (random.nextInt(5)) {
                        case 0 -> client.reset();
                        case 1 -> client.send("p"); // and its FIN, when it is closed below
                        case 2 -> {
                            client.send("ping");
                            client.reset();
                        }
                        case 3 -> {
                            client.send("ping");
                            client.readText(4);
                            client.reset();
                        }
                        default -> {
                            client.send("ping");
                            client.shutdownOutput();
                            client.readToEnd();
                        }
                    }
                } catch (PeerGoneException resetByTheEndpoint) {
                    assertEquals(Ending.RST, resetByTheEndpoint.ending());
                }
            }
            // None active is not yet the end: some may still wait to be accepted.
            Await.equal("closed", (long) rounds, proxy::closed);
            assertEquals(0, proxy.active());
            assertEquals(0, proxy.cell(0).inFlight());

            List<ScriptedClient> held = new ArrayList<>();
            while (held.size() < 10) {
                try {
                    held.add(echoed(proxy));
                } catch (PeerGoneException oneInFiveIsReset) {
                    assertEquals(Ending.RST, oneInFiveIsReset.ending());
                }
            }
            assertEquals(10, proxy.cell(0).inFlight());
            resetClient(proxy);
            Await.until("the eleventh is told", () -> proxy.closed(CloseReason.NO_ENDPOINT) >= 1);
            held.forEach(ScriptedClient::close);
            proxy.awaitNoConnections();
        }
    }

    /** envoyproxy/envoy#28611: upstream connections dangled after the client side had gone. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void aClientThatGoesWhileTheEndpointAcceptsLeavesNoUpstreamConnection(Wish transport) throws Exception {
        Random random = new Random(23);
        try (var backend = ScriptedBackend.start(Scripts.readToEnd());
                var proxy =
                        ProxyFixture.on(transport).endpoint(backend).workers(2).start()) {
            for (int i = 0; i < 1_000; i++) {
                ScriptedClient client = proxy.connect();
                long until = System.nanoTime() + random.nextInt(1_000_000);
                while (System.nanoTime() - until < 0) {
                    Thread.onSpinWait();
                }
                if (random.nextBoolean()) {
                    client.close();
                } else {
                    client.reset();
                }
            }
            Await.equal("closed", 1_000L, proxy::closed); // all have been accepted, too
            proxy.awaitNoConnections();

            Await.until(
                    "none established to the endpoint",
                    () -> Sockets.count(Sockets.State.ESTABLISHED, Sockets.towards(backend.address())) == 0);
            backend.awaitAllDone();
            assertEquals(0, proxy.cell(0).inFlight());
        }
    }

    /** haproxy/haproxy#2744: in a burst the limit of a server was passed. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void aBurstNeverPassesAnEndpointsLimit(Wish transport) throws Exception {
        int clients = 100;
        AtomicInteger open = new AtomicInteger();
        AtomicInteger mostOpen = new AtomicInteger();
        Script counted = connection -> {
            mostOpen.accumulateAndGet(open.incrementAndGet(), Math::max);
            try {
                Scripts.echo().run(connection);
            } finally {
                // Before it is closed: from then on the proxy may send the next one.
                open.decrementAndGet();
            }
        };
        try (var backend = ScriptedBackend.start(counted);
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{address: \"" + backend.hostPort() + "\", max-connections: 5}")
                        .balance("power-of-two")
                        .workers(4)
                        .start()) {
            AtomicInteger served = new AtomicInteger();
            AtomicInteger refused = new AtomicInteger();
            CyclicBarrier together = new CyclicBarrier(clients);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                Thread thread = new Thread(() -> {
                    try {
                        together.await();
                        try (ScriptedClient client = proxy.connect()) {
                            client.send("ping");
                            client.shutdownOutput();
                            (client.readToEnd().kind() == End.Kind.FIN ? served : refused).incrementAndGet();
                        }
                    } catch (PeerGoneException reset) {
                        refused.incrementAndGet();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            proxy.awaitNoConnections();

            assertTrue(mostOpen.get() <= 5, "at once: " + mostOpen);
            assertTrue(served.get() >= 5, "served " + served);
            assertEquals(clients, served.get() + refused.get());
        }
    }

    /** cloudfoundry/diego-ssh#36: clients that connect and say nothing stayed until descriptors ran out. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void silentClientsAreEndedByTheIdleTimeoutAndDescriptorsReturn(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.readToEnd());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .timeouts("{idle: 300ms}")
                        .start()) {
            int before = Fds.countInThisJvm();
            List<ScriptedClient> clients = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                clients.add(proxy.connect());
            }
            for (ScriptedClient client : clients) {
                assertEquals(End.Kind.FIN, client.readToEnd().kind());
                client.close();
            }
            proxy.awaitNoConnections();
            backend.awaitAllDone();

            assertEquals(100, proxy.closed(CloseReason.IDLE));
            Await.until("descriptors are back from " + before, () -> Fds.countInThisJvm() <= before);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void limitsOfFrontendAndProcessRefuseByResetAndMakeRoomAgain(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .frontend("max-connections: 3")
                        .workers(2)
                        .start()) {
            List<ScriptedClient> held = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                held.add(echoed(proxy));
            }
            for (int i = 0; i < 20; i++) {
                resetClient(proxy);
            }
            assertEquals(3, proxy.active());
            Await.equal("refused", 20L, () -> proxy.closed(CloseReason.REJECTED_LIMIT));
            held.get(0).close();
            Await.equal("gauge", 2, proxy::active);

            held.add(echoed(proxy));

            held.forEach(ScriptedClient::close);
            proxy.awaitNoConnections();
        }
    }

    private static ScriptedClient echoed(ProxyFixture proxy) throws IOException {
        ScriptedClient client = proxy.connect();
        try {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            return client;
        } catch (IOException | AssertionError e) {
            client.close();
            throw e;
        }
    }

    private static void resetClient(ProxyFixture proxy) throws IOException {
        try (ScriptedClient client = proxy.connect()) {
            assertEquals(End.Kind.RST, client.readToEnd().kind());
        } catch (PeerGoneException atOnce) {
            assertEquals(Ending.RST, atOnce.ending());
        }
    }

    /** Resets from the client's side, unless the proxy was quicker. */
    private static void goAtOnce(ProxyFixture proxy) throws IOException {
        try (ScriptedClient client = proxy.connect()) {
            client.reset();
        } catch (PeerGoneException atOnce) {
            assertEquals(Ending.RST, atOnce.ending());
        }
    }

    private static long established(ProxyFixture proxy) {
        return Sockets.count(Sockets.State.ESTABLISHED, Sockets.at(proxy.address()));
    }
}
