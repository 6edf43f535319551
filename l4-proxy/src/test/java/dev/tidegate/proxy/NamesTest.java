package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.control.Proxy;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Fitness.Unfit;
import dev.tidegate.telemetry.ReloadCounts;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Endpoints configured by name. Names are looked up apart from the transport, so most of this runs on one. */
class NamesTest {
    private static final Duration TTL_BOUND = Duration.ofSeconds(20);

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void anEndpointIsReachedByItsName(Wish transport) throws Exception {
        try (FakeDns dns = new FakeDns();
                var backend = ScriptedBackend.echo()) {
            dns.answer(1);
            try (var proxy = named(dns, transport, backend.port())) {
                awaitResolved(proxy, 1);

                assertTrue(served(proxy));
            }
        }
    }

    /** A process that takes over from another is not to reset whom that one would have served. */
    @EachTransport
    @Tag("slow")
    void whoComesBeforeNamesAndChecksAreKnownWaitsAndIsServed(Wish transport) throws Exception {
        try (FakeDns dns = new FakeDns();
                var backend = ScriptedBackend.echo()) {
            dns.answer(FakeDns.Mode.HELD);
            try (var proxy = ProxyFixture.on(transport)
                            .endpoint("{address: \"api.test:" + backend.port() + "\"}")
                            .backend(CHECKS)
                            .backend("panic: {mode: refuse}")
                            .nameServers(dns.provider())
                            .onlyBound()
                            .start();
                    ScriptedClient early = proxy.connect()) {
                early.send("early");
                Await.until("a question", () -> dns.questions() > 0);
                assertFalse(proxy.proxy().endpointsKnown().isDone());
                assertEquals(List.of("front"), proxy.proxy().awaitingCandidate());
                assertEquals(Proxy.Phase.STARTING, proxy.proxy().phase());
                awaitTurnOfAll(proxy.proxy());
                assertEquals(0, proxy.sum(row -> row.accepted));

                dns.answer(1);
                proxy.proxy().endpointsKnown().get(TTL_BOUND.toSeconds(), TimeUnit.SECONDS);
                Await.until(
                        "found fit; later only where the machine took longer than the lookup's patience",
                        TTL_BOUND,
                        () -> proxy.frontend().backend().hasCandidate());
                assertEquals(List.of(), proxy.proxy().awaitingCandidate());
                proxy.proxy().accept();

                assertEquals("early", early.readText(5));
                assertEquals(1, proxy.sum(row -> row.accepted));
            }
        }
    }

    /** What a loop had to do is done when it has had two turns. */
    private static void awaitTurnOfAll(Proxy proxy) throws Exception {
        for (int turn = 0; turn < 2; turn++) {
            CountDownLatch all = new CountDownLatch(1);
            proxy.callRoll(all::countDown);
            assertTrue(all.await(10, TimeUnit.SECONDS));
        }
    }

    /** A fleet's name has more addresses than a datagram takes. */
    @EachTransport
    void anAnswerThatIsCutShortIsAskedForAgainOverTcp(Wish transport) throws Exception {
        int[] fleet = IntStream.rangeClosed(1, 200).toArray();
        try (FakeDns dns = new FakeDns();
                var backend = ScriptedBackend.echo()) {
            dns.answer(fleet);
            dns.answer(FakeDns.Mode.TRUNCATED);
            try (var proxy = named(dns, transport, backend.port())) {
                awaitResolved(proxy, fleet.length);
                assertTrue(dns.tcpQuestions() > 0);
            }
        }
    }

    /** bloxbean/yaci#163: all attempts went to the first, dead address of a name. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void everyAddressOfANameIsTriedWhateverOtherConnectionsTry(Wish transport) throws Exception {
        int clients = 40;
        try (FakeDns dns = new FakeDns();
                var backend =
                        ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onHost("127.0.0.3"), Scripts.echo())) {
            dns.answer(2, 3, 4);
            try (var proxy = named(dns, transport, backend.port())) {
                awaitResolved(proxy, 3);
                AtomicInteger good = new AtomicInteger();
                CyclicBarrier together = new CyclicBarrier(clients);
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < clients; i++) {
                    Thread thread = new Thread(() -> {
                        try {
                            together.await();
                            if (served(proxy)) {
                                good.incrementAndGet();
                            }
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

                assertEquals(clients, good.get());
            }
        }
    }

    /** OpenHFT/Chronicle-Network#168: the first address was kept for ever. */
    @Test
    @Tag("slow")
    void aChangedAnswerIsFollowedAfterItsTimeToLiveAndExistingConnectionsStay() throws Exception {
        try (FakeDns dns = new FakeDns();
                var before =
                        ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onHost("127.0.0.2"), Scripts.echo());
                var after = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.onHost("127.0.0.3").onPort(before.port()), Scripts.echo())) {
            dns.answer(2);
            try (var proxy = named(dns, Wish.EPOLL, before.port())) {
                awaitResolved(proxy, 1);
                try (var existing = proxy.connect()) {
                    echo(existing);
                    dns.answer(3);
                    Await.until(
                            "the change is seen",
                            TTL_BOUND,
                            () -> address(proxy).equals("127.0.0.3"));

                    for (int i = 0; i < 5; i++) {
                        assertTrue(served(proxy));
                    }
                    echo(existing);
                    assertEquals(1, before.connections().size());
                    assertEquals(5, after.connections().size());
                }
            }
        }
    }

    @Test
    @Tag("slow")
    void checksFollowAChangedAnswer() throws Exception {
        try (FakeDns dns = new FakeDns();
                var before =
                        ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onHost("127.0.0.2"), Scripts.echo());
                var after = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.onHost("127.0.0.3").onPort(before.port()), Scripts.echo())) {
            dns.answer(2);
            try (var proxy = named(dns, Wish.EPOLL, before.port(), CHECKS)) {
                Await.until("checks", () -> before.connections().size() >= 2);
                assertEquals(0, after.connections().size());
                dns.answer(3);
                Await.until(
                        "checks where it is now",
                        TTL_BOUND,
                        () -> after.connections().size() >= 3);

                // What was on its way is accepted late on a busy machine; then nothing comes there any more.
                Await.until("no more checks where it was", TTL_BOUND, () -> {
                    int there = before.connections().size();
                    int here = after.connections().size();
                    Await.until("more checks", () -> after.connections().size() >= here + 5);
                    return before.connections().size() == there;
                });
                assertEquals("127.0.0.3", address(proxy));
            }
        }
    }

    /** Its answer may be believed for five minutes, but who moves a dead service does not wait for that. */
    @Test
    @Tag("slow")
    void aNameIsAskedForAgainSoonWhenChecksOfItsEndpointFail() throws Exception {
        try (FakeDns dns = new FakeDns();
                var moved =
                        ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onHost("127.0.0.3"), Scripts.echo())) {
            dns.timeToLive(300);
            dns.answer(2);
            try (var proxy = named(dns, Wish.EPOLL, moved.port(), CHECKS)) {
                Await.until("it is down", () -> proxy.cell(0).fitness().unfit(Unfit.DOWN));
                dns.answer(3);

                Await.until("it is up", TTL_BOUND, () -> proxy.cell(0).fitness().fit());
                assertEquals("127.0.0.3", address(proxy));
                assertTrue(served(proxy));
            }
        }
    }

    @Test
    @Tag("slow")
    void aNameIsAskedForAgainSoonWhenItsEndpointIsEjected() throws Exception {
        try (FakeDns dns = new FakeDns();
                var other = ScriptedBackend.echo();
                var moved =
                        ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onHost("127.0.0.3"), Scripts.echo())) {
            dns.timeToLive(300);
            dns.answer(2);
            try (var proxy = ProxyFixture.on(Wish.EPOLL)
                    .endpoint("{address: \"back.test:" + moved.port() + "\"}")
                    .endpoint(other)
                    .nameServers(dns.provider())
                    .backend("outlier: {consecutive-failures: 1, ejection: 1h, max-ejection: 1h}")
                    .start()) {
                awaitResolved(proxy, 1);
                dns.answer(3);
                Await.until("it is ejected", () -> {
                    try {
                        return served(proxy) && proxy.cell(0).fitness().unfit(Unfit.EJECTED);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });

                Await.until("asked again", TTL_BOUND, () -> address(proxy).equals("127.0.0.3"));
            }
        }
    }

    /** nginx/nginx#1656: a change between two steps of a pick left nothing to connect to for a moment. */
    @EachTransport
    @Tag("slow")
    void answersThatKeepChangingHurtNoConnection(Wish transport) throws Exception {
        flip(transport, 2);
    }

    @EachTransport
    @Tag("nightly")
    void answersThatKeepChangingForAMinuteHurtNoConnection(Wish transport) throws Exception {
        flip(transport, 60);
    }

    private static void flip(Wish transport, int changes) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger good = new AtomicInteger();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        try (FakeDns dns = new FakeDns();
                var two = ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onHost("127.0.0.2"), Scripts.echo());
                var three = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.onHost("127.0.0.3").onPort(two.port()), Scripts.echo())) {
            dns.answer(2);
            try (var proxy = named(dns, transport, two.port())) {
                awaitResolved(proxy, 1);
                try (var existing = proxy.connect()) {
                    echo(existing);
                    Thread arriving = new Thread(() -> arrive(proxy, over, good, failures), "arriving");
                    arriving.start();
                    try {
                        for (int change = 0; change < changes && failures.isEmpty(); change++) {
                            String next = change % 2 == 0 ? "127.0.0.3" : "127.0.0.2";
                            dns.answer(change % 2 == 0 ? 3 : 2);
                            Await.until(
                                    "change " + change,
                                    TTL_BOUND,
                                    () -> address(proxy).equals(next));
                            int more = good.get() + 5;
                            Await.until("served since", () -> good.get() >= more || !failures.isEmpty());
                        }
                    } finally {
                        over.set(true);
                        arriving.join();
                    }
                    assertEquals(List.of(), List.copyOf(failures));
                    echo(existing);
                }
                assertTrue(three.connections().size() >= 5, "connections to the other address");
            }
        }
    }

    private static void arrive(ProxyFixture proxy, AtomicBoolean over, AtomicInteger good, Queue<Throwable> failures) {
        while (!over.get() && failures.isEmpty()) {
            try (ScriptedClient client = proxy.connect()) {
                echo(client);
                good.incrementAndGet();
            } catch (IOException | RuntimeException | AssertionError e) {
                failures.add(e);
            }
        }
    }

    private static String address(ProxyFixture proxy) {
        return proxy.cell(0).addresses().get(0).getAddress().getHostAddress();
    }

    /** virtualcell/vcell#1684: a failed lookup was kept though DNS was well again. */
    @ParameterizedTest
    @EnumSource(
            value = FakeDns.Mode.class,
            names = {"NXDOMAIN", "SERVFAIL", "EMPTY", "SILENT"})
    @Tag("slow")
    void afterAFailureAtTheStartItComesByItself(FakeDns.Mode failure) throws Exception {
        try (FakeDns dns = new FakeDns();
                var backend = ScriptedBackend.echo()) {
            dns.answer(failure);
            try (var proxy = named(dns, Wish.EPOLL, backend.port())) {
                Await.until("a question", () -> dns.questions() > 0);
                try (ScriptedClient client = proxy.connect()) {
                    assertEquals(End.Kind.RST, client.readToEnd().kind());
                } catch (PeerGoneException atOnce) {
                    assertTrue(atOnce.getMessage() != null);
                }
                Await.equal("refused", 1L, () -> proxy.closed(CloseReason.NO_ENDPOINT));
                dns.answer(1);

                awaitResolved(proxy, 1);
                assertTrue(served(proxy));
            }
        }
    }

    /** opnsense/plugins#1787: one name that nobody knew kept the whole from starting. */
    @Test
    @Tag("slow")
    void oneNameThatIsNotKnownConcernsNobodyElseAndIsPickedUpLater() throws Exception {
        try (FakeDns dns = new FakeDns();
                var backend = ScriptedBackend.echo()) {
            dns.answer(1);
            dns.unknown("bad.test");
            int port = ReloadFixture.port();
            String good = named("good", backend) + ", " + named("better", backend);
            String all = good + ", " + named("bad", backend);
            String checked = ReloadFixture.yaml(port, all).replace("}\n", ", " + CHECKS + "}\n");
            try (var proxy = ReloadFixture.start(Wish.EPOLL, checked, dns.provider())) {
                OperatorFixture operator = new OperatorFixture(proxy.proxy());
                Await.until(
                        "the good ones",
                        TTL_BOUND,
                        () -> proxy.cell("good").fitness().fit()
                                && proxy.cell("better").fitness().fit());
                assertServes(port);
                assertUnresolved(operator);
                assertTrue(operator.ready("front"));
                Await.until(
                        "who has no address is not waited for",
                        () -> proxy.proxy().firstChecksOver());

                assertEquals(
                        ReloadCounts.Result.APPLIED,
                        proxy.reload(checked.replace("timeout: 1s", "timeout: 2s"))
                                .result());
                assertServes(port);
                assertUnresolved(operator);

                dns.unknown("");
                Await.until(
                        "it is known",
                        TTL_BOUND,
                        () -> operator.endpointNow("bad").pickable());
                assertServes(port);
                assertTrue(operator.endpointNow("bad").picks() > 0);
            }
        }
    }

    private static String named(String name, ScriptedBackend backend) {
        return "{name: " + name + ", address: \"" + name + ".test:" + backend.port() + "\"}";
    }

    /** One for each endpoint in turn. */
    private static void assertServes(int port) throws IOException {
        for (int i = 0; i < 3; i++) {
            try (ScriptedClient client = ReloadFixture.connect(port)) {
                echo(client);
            }
        }
    }

    private static void assertUnresolved(OperatorFixture operator) {
        assertFalse(operator.endpointNow("bad").pickable());
        assertTrue(
                operator.endpointNow("bad").reason().startsWith("its name is not resolved"),
                operator.endpointNow("bad").reason());
    }

    /** openjdk/jdk#13285, line/armeria#2231: a short outage of DNS made good addresses unusable. */
    @ParameterizedTest
    @EnumSource(
            value = FakeDns.Mode.class,
            names = {"NXDOMAIN", "SERVFAIL", "EMPTY", "SILENT"})
    @Tag("slow")
    void theLastGoodAnswerIsKeptWhileLookupsFail(FakeDns.Mode failure) throws Exception {
        try (FakeDns dns = new FakeDns();
                var backend = ScriptedBackend.echo()) {
            dns.answer(1);
            try (var proxy = named(dns, Wish.EPOLL, backend.port())) {
                awaitResolved(proxy, 1);
                dns.answer(failure);
                int before = dns.questions();
                Await.until("several questions", TTL_BOUND, () -> dns.questions() >= before + 4);

                assertEquals(1, proxy.cell(0).addresses().size());
                assertTrue(served(proxy));
            }
        }
    }

    /** MegaManSec/Gixy-Next#41: an address was taken for a name. */
    @Test
    void literalsNeverGoToDns() throws Exception {
        try (FakeDns dns = new FakeDns();
                var backend = ScriptedBackend.echo()) {
            dns.answer(1);
            try (var proxy = ProxyFixture.on(Wish.EPOLL)
                    .endpoint("{address: \"127.0.0.1:" + backend.port() + "\"}")
                    .endpoint("{address: \"[::1]:" + backend.port() + "\"}")
                    .endpoint("{address: \"named.test:" + backend.port() + "\"}")
                    .nameServers(dns.provider())
                    .start()) {
                Await.until("the name is looked up", () -> proxy.cell(2).resolved());

                assertTrue(served(proxy));
                // One name: a question for each family.
                assertTrue(dns.questions() <= 2, "questions: " + dns.questions());
            }
        }
    }

    private static final String CHECKS =
            "health: {type: tcp, interval: 100ms, fast-interval: 50ms, timeout: 1s, rise: 1, fall: 1}";

    private static ProxyFixture named(FakeDns dns, Wish transport, int port) throws IOException {
        return named(dns, transport, port, "slow-start: off");
    }

    private static ProxyFixture named(FakeDns dns, Wish transport, int port, String more) throws IOException {
        return ProxyFixture.on(transport)
                .endpoint("{address: \"back.test:" + port + "\"}")
                .nameServers(dns.provider())
                .backend(
                        "retry-budget: off") // a dead address of a name costs an attempt, and there is but one endpoint
                .backend(more)
                .start();
    }

    private static void awaitResolved(ProxyFixture proxy, int addresses) {
        Await.until(
                "addresses known", TTL_BOUND, () -> proxy.cell(0).addresses().size() == addresses);
    }

    private static boolean served(ProxyFixture proxy) throws IOException {
        try (ScriptedClient client = proxy.connect()) {
            echo(client);
            return true;
        } catch (PeerGoneException notServed) {
            return false;
        }
    }

    private static void echo(ScriptedClient client) throws IOException {
        client.send("ping");
        assertEquals("ping", client.readText(4));
    }
}
