package dev.tidegate.proxy;

import static dev.tidegate.proxy.ReloadFixture.connectTo;
import static dev.tidegate.proxy.ReloadFixture.endpoint;
import static dev.tidegate.proxy.ReloadFixture.named;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.telemetry.ReloadCounts.Result;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Sockets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;

/** Gauges stay true over reloads, and reloads are answered, whatever connections do meanwhile. */
class BooksUnderReloadTest {
    private static final Duration ANSWER_BOUND = Duration.ofSeconds(5);

    /** istio/istio#16052: the gauge rose with each restart though one connection existed. */
    @EachTransport
    @Tag("slow")
    void theGaugeIsWhatTheKernelCountsAfterEachOfTwentyReloads(Wish transport) throws Exception {
        compareAfterEachReload(transport, 20);
    }

    @EachTransport
    @Tag("nightly")
    void theGaugeIsWhatTheKernelCountsAfterEachOfFiftyReloads(Wish transport) throws Exception {
        compareAfterEachReload(transport, 50);
    }

    private static void compareAfterEachReload(Wish transport, int reloads) throws Exception {
        int port = ReloadFixture.port();
        InetSocketAddress listening = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        List<ScriptedClient> clients = new ArrayList<>();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, ReloadFixture.yaml(port, endpoint("a", a)))) {
            try {
                for (int i = 0; i < 10; i++) {
                    clients.add(connectTo(port, "a"));
                }
                for (int reload = 1; reload <= reloads; reload++) {
                    var result =
                            proxy.reload(ReloadFixture.yaml(port, endpoint("a", a, "weight: " + (1 + reload % 2))));
                    assertEquals(Result.APPLIED, result.result(), result::reason);
                    if (reload % 4 == 0 && !clients.isEmpty()) {
                        clients.remove(0).close();
                    }

                    int open = clients.size();
                    Await.equal(
                            "gauge after reload " + reload,
                            open,
                            () -> proxy.proxy().connections().active());
                    Await.equal("in flight", open, () -> proxy.cell("a").inFlight());
                    Await.equal("kernel", (long) open, () -> established(Sockets.at(listening)));
                    Await.equal("kernel, upstream", (long) open, () -> established(Sockets.towards(a.address())));
                }
            } finally {
                clients.forEach(ScriptedClient::close);
            }
        }
    }

    private static long established(Predicate<Sockets.Entry> which) {
        return Sockets.count(Sockets.State.ESTABLISHED, which);
    }

    /** What an operator asks for. */
    private interface Asking {
        void ask() throws Exception;
    }

    /** Shopify/toxiproxy#19: what closed was not forgotten, and calls that managed it hung. */
    @EachTransport
    @Tag("slow")
    void operatorsAreAnsweredWhileManyConnectionsClose(Wish transport) throws Exception {
        askWhileConnectionsClose(transport, 4, 200);
    }

    @EachTransport
    @Tag("nightly")
    void operatorsAreAnsweredWhileAThousandConnectionsCloseEachTime(Wish transport) throws Exception {
        askWhileConnectionsClose(transport, 50, 1_000);
    }

    private static void askWhileConnectionsClose(Wish transport, int rounds, int count) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b")) {
            String both = ReloadFixture.yaml(port, endpoint("a", a), endpoint("b", b));
            String one = ReloadFixture.yaml(port, endpoint("a", a));
            try (var proxy = ReloadFixture.start(transport, both)) {
                OperatorFixture operator = new OperatorFixture(proxy.proxy());
                // Each goes through connections: lists them, retires some, lets some stay.
                List<Asking> all = List.of(
                        operator::connections,
                        () -> operator.drain(OperatorFixture.endpoint("a")),
                        operator::connections,
                        () -> assertEquals(Result.APPLIED, proxy.reload(one).result()),
                        () -> assertEquals(Result.APPLIED, proxy.reload(both).result()),
                        () -> operator.undrain(OperatorFixture.endpoint("a")));
                for (int round = 0; round < rounds; round++) {
                    List<ScriptedClient> clients = new ArrayList<>();
                    for (int i = 0; i < count; i++) {
                        clients.add(ReloadFixture.connect(port));
                        clients.get(i).readText(1);
                    }
                    assertEquals(count, operator.connections().size());
                    CountDownLatch begun = new CountDownLatch(1);
                    Thread leaving = new Thread(() -> {
                        begun.countDown();
                        clients.forEach(ScriptedClient::close);
                    });
                    leaving.start();
                    begun.await();

                    for (Asking asking : all) {
                        long asked = System.nanoTime();
                        asking.ask();
                        long millis = (System.nanoTime() - asked) / 1_000_000;
                        assertTrue(millis < ANSWER_BOUND.toMillis(), "an answer took " + millis + " ms");
                    }

                    leaving.join();
                    Await.equal("gauge", 0, () -> proxy.proxy().connections().active());
                    Await.equal("in flight to a", 0, () -> proxy.cell("a").inFlight());
                    Await.equal("in flight to b", 0, () -> proxy.cell("b").inFlight());
                    assertEquals(List.of(), operator.connections());
                }
                assertEquals(rounds * count, proxy.records().size());
            }
        }
    }
}
