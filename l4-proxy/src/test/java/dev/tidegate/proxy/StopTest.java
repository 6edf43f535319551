package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.control.Proxy;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A stop ends every connection within its deadline, not all at once, and takes no new one. */
class StopTest {
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void withNoConnectionItIsOverAtOnce(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 1h, spread: 30m}")
                        .start()) {
            proxy.proxy().stopGracefully();

            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
            assertEquals(Proxy.Phase.STOPPED, proxy.proxy().phase());
        }
    }

    /** A stop that comes before another process is told that it may have all is a stop; one that comes later is late. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void whetherItStopsOrGivesWayIsDecidedByWhatComesFirst(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 20s, spread: 0s, lame-duck: 10s}")
                        .start();
                var client = proxy.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            proxy.proxy().stopGracefully();

            assertFalse(proxy.proxy().giveWay().get(10, TimeUnit.SECONDS));

            proxy.proxy().handOver().get(10, TimeUnit.SECONDS);
            try (var late = proxy.connect()) {
                late.send("still");
                assertEquals("still", late.readText(5), "its lame duck goes on");
            }
        }
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 20s, spread: 0s, lame-duck: 10s}")
                        .start()) {
            assertTrue(proxy.proxy().giveWay().get(10, TimeUnit.SECONDS));
            assertEquals(Proxy.Phase.DRAINING, proxy.proxy().phase());
            proxy.proxy().stopGracefully();
            try (var client = proxy.connect()) {
                client.send("ping");
                assertEquals("ping", client.readText(4), "it accepts until it is told that it need not");
            }
            assertFalse(proxy.proxy().giveWay().get(10, TimeUnit.SECONDS), "once is enough");
            InetSocketAddress address = proxy.address();

            proxy.proxy().handOver().get(10, TimeUnit.SECONDS);

            assertThrows(ConnectException.class, () -> ScriptedClient.connect(address));
            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
        }
    }

    /** linkerd/linkerd2-proxy#1815: it waited for open connections for ever. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void aConnectionThatNeverGoesIsEndedByTheDeadline(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 300ms, spread: 0s}")
                        .start();
                var client = proxy.connect()) {
            client.send("an answer is owed");
            Await.until("it is relayed", () -> proxy.sum(row -> row.receivedBytes) > 0);
            long begin = System.nanoTime();
            proxy.proxy().stopGracefully();

            client.readToEnd();
            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
            long millis = (System.nanoTime() - begin) / 1_000_000;
            // The deadline, a linger of 2 s at most, and a margin for a busy machine.
            assertTrue(millis < 5_000, "after " + millis + " ms");
            assertEquals(CloseReason.SHUTDOWN, proxy.awaitOnlyRecord().reason);
        }
    }

    /** linkerd/linkerd2#8033: one idle, half-closed pair kept a proxy alive long after it was told to stop. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void aHalfClosedPairIsEndedByTheDeadline(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 300ms, spread: 0s}")
                        .start();
                var client = proxy.connect()) {
            client.send("x");
            client.shutdownOutput();
            Await.until("the FIN is passed on", () -> backend.connection(0).ending() == Ending.FIN);
            proxy.proxy().stopGracefully();

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
            assertEquals(RetireHow.CUT, proxy.awaitOnlyRecord().how);
        }
    }

    /** pgbouncer/pgbouncer#1473: under constant traffic no client leaves by itself. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void aConnectionThatIsNeverQuietIsCutAtTheDeadlineAndNotBefore(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 1s, spread: 0s}")
                        .start();
                var client = proxy.connect()) {
            client.send("ping");
            client.readText(4);
            long begin = System.nanoTime();
            proxy.proxy().stopGracefully();
            PeerGoneException cut = assertThrows(PeerGoneException.class, () -> {
                while (System.nanoTime() - begin < 20_000_000_000L) {
                    client.send("ping");
                    client.readText(4);
                }
            });
            long millis = (System.nanoTime() - begin) / 1_000_000;

            assertEquals(Ending.RST, cut.ending());
            assertTrue(millis >= 950, "cut after " + millis + " ms");
            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.SHUTDOWN, record.reason);
            assertEquals(RetireHow.CUT, record.how);
            assertTrue(record.cutMidExchange);
            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void anIdleConnectionIsEndedAtAQuietMomentByFinToBothSides(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 4s, spread: 0s}")
                        .start();
                var client = proxy.connect()) {
            client.send("ping");
            client.readText(4);
            proxy.proxy().stopGracefully();

            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            backend.awaitAllDone();
            client.shutdownOutput();
            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.SHUTDOWN, record.reason);
            assertEquals(RetireHow.QUIET, record.how);
            assertFalse(record.cutMidExchange);
            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
        }
    }

    /** envoyproxy/envoy#44419: all were closed at the same moment, and all came back at the same moment. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void endsAreSpreadOverTheWindow(Wish transport) throws Exception {
        int count = 100;
        try (var backend = ScriptedBackend.start(Scripts.readToEnd());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .workers(2)
                        .shutdown("{deadline: 2s, spread: 1500ms}")
                        .start()) {
            List<ScriptedClient> clients = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                clients.add(proxy.connect());
            }
            Await.equal("connections", count, proxy::active);
            backend.awaitConnections(count);
            // A quarter of the deadline is silence enough, so those that are to begin before that end at about that
            // time.
            proxy.proxy().stopGracefully();
            long first = whenEnded(backend, count / 10);
            long half = whenEnded(backend, count / 2);
            long last = whenEnded(backend, count);

            assertTrue(half - first > 100_000_000L, "the first half within " + (half - first) + " ns");
            assertTrue(last - half > 100_000_000L, "the second half within " + (last - half) + " ns");
            clients.forEach(ScriptedClient::close);
            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
            assertEquals(count, proxy.closed(CloseReason.SHUTDOWN));
        }
    }

    private static long whenEnded(ScriptedBackend backend, int ended) {
        Await.until(
                ended + " have ended",
                Duration.ofSeconds(20),
                () -> backend.connections().size() - backend.concurrent() >= ended);
        return System.nanoTime();
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void newClientsAreRefusedOnceTheLameDuckTimeIsOver(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .shutdown("{deadline: 1h, spread: 30m, lame-duck: 500ms}")
                        .start();
                var held = proxy.connect()) {
            held.send("ping");
            held.readText(4);
            var address = proxy.address();
            long begin = System.nanoTime();
            proxy.proxy().stopGracefully();
            Await.until("draining", () -> proxy.proxy().phase() == Proxy.Phase.DRAINING);
            long served = 0;
            ConnectException refused = null;
            while (refused == null && System.nanoTime() - begin < 20_000_000_000L) {
                try (ScriptedClient client = ScriptedClient.connect(address)) {
                    client.send("ping");
                    client.readText(4);
                    served++;
                } catch (PeerGoneException closedInTheQueue) {
                    assertTrue(System.nanoTime() - begin >= 450_000_000L, "closed before its time");
                } catch (ConnectException expected) {
                    refused = expected;
                }
            }

            assertTrue(refused != null, "still listening");
            assertTrue(served > 0, "nobody was served in the lame-duck time");
            held.send("pong");
            assertEquals("pong", held.readText(4));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void aStopNowEndsAllPhasesOfConnectionsAtOnce(Wish transport) throws Exception {
        try (var hole = ScriptedBackend.blackHole();
                var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(hole)
                        .endpoint(backend)
                        .connect("{timeout: 1m, deadline: 5m}")
                        .start();
                var one = proxy.connect();
                var two = proxy.connect()) {
            Await.until("one dials", () -> proxy.cell(0).inFlight() == 1);
            backend.awaitConnections(1);
            proxy.proxy().stopNow();

            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
            assertEquals(End.Kind.RST, one.readToEnd().kind());
            assertEquals(End.Kind.RST, two.readToEnd().kind());
            assertEquals(2, proxy.closed(CloseReason.SHUTDOWN));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void aConnectionStillDialingIsEndedByTheDeadlineToo(Wish transport) throws Exception {
        try (var hole = ScriptedBackend.blackHole();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(hole)
                        .connect("{timeout: 1m, deadline: 5m}")
                        .shutdown("{deadline: 300ms, spread: 0s}")
                        .start();
                var client = proxy.connect()) {
            Await.until("it dials", () -> proxy.cell(0).inFlight() == 1);
            proxy.proxy().stopGracefully();

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            Await.until("stopped", () -> proxy.proxy().stopped().isDone());
            assertEquals(1, proxy.closed(CloseReason.SHUTDOWN));
        }
    }
}
