package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Fitness.Unfit;
import dev.tidegate.telemetry.LogLines;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients see of endpoints that are not fit for them, and what becomes of connections that are there. */
class UnfitEndpointsTest {
    private static final String SHORT_EJECTION = "outlier: {ejection: 300ms, max-ejection: 300ms}";
    private static final String QUICK_CHECKS =
            "health: {type: tcp, interval: 100ms, fast-interval: 50ms, timeout: 1s, rise: 1, fall: 2, on-down: %s}";

    @EachTransport
    @Tag("slow")
    void anEndpointThatResetsIsEjectedAfterFiveAndAgainWhenItIsBack(Wish transport) throws Exception {
        try (var resetting = ScriptedBackend.start(Scripts.rst());
                var one = ScriptedBackend.echo();
                var two = ScriptedBackend.echo();
                var proxy = start(transport, SHORT_EJECTION, resetting, one, two)) {
            EndpointCell cell = proxy.cell("a");
            int lost = 0;
            for (int cycle = 1; cycle <= 2; cycle++) {
                int times = cycle;
                int lostBefore = lost;
                for (int i = 0; i < 2_000 && cell.fitness().ejections() < times; i++) {
                    if (!served(proxy)) {
                        lost++;
                        awaitHeard(proxy);
                    }
                }
                assertEquals(times, cell.fitness().ejections(), "ejections after clients lost: " + lost);
                assertTrue(lost - lostBefore <= 6, "clients that saw a reset in cycle " + cycle + ": " + lost);
                Await.until("it is back", () -> !cell.fitness().unfit(Unfit.EJECTED));
            }
        }
    }

    /** Waits until workers have told control of what there was, and it has heard of it: on a busy machine others fail meanwhile. */
    private static void awaitHeard(ReloadFixture proxy) throws Exception {
        proxy.proxy().armedDeadlines();
        proxy.proxy().operations().get(10, TimeUnit.SECONDS);
    }

    @EachTransport
    @Tag("slow")
    void anEndpointThatRefusesIsEjectedAndNoClientFails(Wish transport) throws Exception {
        try (var refusing = ScriptedBackend.refusing();
                var one = ScriptedBackend.echo();
                var two = ScriptedBackend.echo();
                var proxy = start(transport, SHORT_EJECTION, refusing, one, two)) {
            EndpointCell cell = proxy.cell("a");
            for (int cycle = 1; cycle <= 2; cycle++) {
                int times = cycle;
                for (int i = 0; i < 500 && cell.fitness().ejections() < times; i++) {
                    assertTrue(served(proxy), "client " + i + " of cycle " + cycle);
                }
                assertEquals(times, cell.fitness().ejections());
                Await.until("it is back", () -> !cell.fitness().unfit(Unfit.EJECTED));
            }
        }
    }

    @EachTransport
    @Tag("slow")
    void anEndpointThatTakesRequestsAndSaysNothingIsEjected(Wish transport) throws Exception {
        try (var silent = ScriptedBackend.start(Scripts.readToEnd());
                var one = ScriptedBackend.echo();
                var proxy = start(
                        transport,
                        "outlier: {consecutive-failures: 3, first-byte: 50ms, ejection: 1h, max-ejection: 1h}",
                        silent,
                        one)) {
            List<ScriptedClient> clients = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                ScriptedClient client = connect(proxy);
                client.send("ping");
                clients.add(client);
            }
            Await.until("it is ejected", () -> proxy.cell("a").fitness().unfit(Unfit.EJECTED));

            assertEquals(List.of(), proxy.records(), "connections to it go on");
            for (int i = 0; i < 10; i++) {
                assertTrue(served(proxy));
            }
            clients.forEach(ScriptedClient::close);
        }
    }

    /** yyyar/gobetween#74: connections to a dead endpoint stayed, and clients waited for ever. */
    @EachTransport
    @Tag("slow")
    void onDownCutEndsItsConnectionsWithinAboutASecond(Wish transport) throws Exception {
        int held = 50;
        try (var dying = ScriptedBackend.echo();
                var other = ScriptedBackend.echo();
                var proxy = start(transport, QUICK_CHECKS.formatted("cut"), dying, other)) {
            awaitUp(proxy, "a", "b");
            List<ScriptedClient> clients = hold(proxy, 2 * held);
            assertEquals(held, proxy.cell("a").inFlight());
            dying.stopListening();

            Await.until("it is down", () -> proxy.cell("a").fitness().unfit(Unfit.DOWN));
            long downNanos = System.nanoTime();
            Await.until(
                    "all of its connections have ended", () -> proxy.cell("a").inFlight() == 0);
            long millis = (System.nanoTime() - downNanos) / 1_000_000;

            assertTrue(millis < 5_000, "it took ms: " + millis); // a second, and what a busy machine adds
            Await.until("all are logged", () -> proxy.records().size() == held);
            assertTrue(
                    proxy.records().stream().allMatch(record -> record.reason == CloseReason.ENDPOINT_DOWN),
                    () -> proxy.records().stream()
                            .map(r -> r.reason)
                            .distinct()
                            .toList()
                            .toString());
            assertEquals(held, proxy.cell("b").inFlight(), "those of the other stay");
            clients.forEach(ScriptedClient::close);
        }
    }

    @EachTransport
    @Tag("slow")
    void onDownKeepLeavesConnectionsAsTheyAre(Wish transport) throws Exception {
        try (var dying = ScriptedBackend.echo();
                var other = ScriptedBackend.echo();
                var proxy = start(transport, QUICK_CHECKS.formatted("keep"), dying, other)) {
            awaitUp(proxy, "a", "b");
            List<ScriptedClient> clients = hold(proxy, 10);
            dying.stopListening();
            Await.until("it is down", () -> proxy.cell("a").fitness().unfit(Unfit.DOWN));

            for (ScriptedClient client : clients) {
                ping(client);
            }
            for (int i = 0; i < 4; i++) {
                assertTrue(served(proxy));
            }
            Await.equal(
                    "of those that came later none is left",
                    5,
                    () -> proxy.cell("b").inFlight());
            assertEquals(5, proxy.cell("a").inFlight());
            clients.forEach(ScriptedClient::close);
        }
    }

    @EachTransport
    @Tag("slow")
    void onDownDrainRetiresItsConnections(Wish transport) throws Exception {
        try (var dying = ScriptedBackend.echo();
                var other = ScriptedBackend.echo();
                var proxy = start(transport, QUICK_CHECKS.formatted("drain"), dying, other)) {
            awaitUp(proxy, "a", "b");
            List<ScriptedClient> clients = hold(proxy, 4);
            dying.stopListening();
            Await.until("it is down", () -> proxy.cell("a").fitness().unfit(Unfit.DOWN));

            Await.until("both have ended", () -> {
                proxy.pass(Duration.ofSeconds(1)); // of its window, and then of silence
                return proxy.records().size() == 2;
            });

            assertEquals(CloseReason.ENDPOINT_DOWN, proxy.records().get(0).reason);
            assertFalse(proxy.records().get(0).cutMidExchange);
            assertEquals(2, proxy.cell("b").inFlight());
            clients.forEach(ScriptedClient::close);
        }
    }

    @Test
    @Tag("slow")
    void aReloadThatChangesOnDownIsForThoseThatAreDownAlready() throws Exception {
        try (var dying = ScriptedBackend.echo();
                var other = ScriptedBackend.echo();
                var proxy = start(Wish.EPOLL, QUICK_CHECKS.formatted("keep"), dying, other)) {
            int port = proxy.proxy().listeningOn().values().iterator().next().getPort();
            awaitUp(proxy, "a", "b");
            List<ScriptedClient> clients = hold(proxy, 20);
            dying.stopListening();
            Await.until("it is down", () -> proxy.cell("a").fitness().unfit(Unfit.DOWN));

            proxy.reload(yaml(port, QUICK_CHECKS.formatted("drain"), dying, other));
            proxy.reload(yaml(port, QUICK_CHECKS.formatted("keep"), dying, other));
            assertEquals(
                    List.of("down cancelled"),
                    operations(proxy).stream()
                            .map(it -> it.kind() + " " + it.state())
                            .toList(),
                    "begun by one reload and taken back by the next");
            proxy.pass(Duration.ofMinutes(6)); // whoever is drained would be gone by now
            for (ScriptedClient client : clients) {
                ping(client);
            }
            proxy.reload(yaml(port, QUICK_CHECKS.formatted("cut"), dying, other));
            proxy.pass(Duration.ofSeconds(2)); // of the window that cuts are drawn from

            Await.until("its connections are cut", () -> proxy.records().size() == 10);
            assertTrue(proxy.records().stream().allMatch(record -> record.reason == CloseReason.ENDPOINT_DOWN));
            assertEquals(10, proxy.cell("b").inFlight());
            clients.forEach(ScriptedClient::close);
        }
    }

    private static List<OperationView> operations(ReloadFixture proxy) throws Exception {
        return proxy.proxy().operations().get(10, TimeUnit.SECONDS);
    }

    /** When most endpoints seem dead, checks may be what is wrong. */
    @EachTransport
    @Tag("slow")
    void inPanicConnectionsAreKeptWhateverOnDownSays(Wish transport) throws Exception {
        try (var first = ScriptedBackend.echo();
                var second = ScriptedBackend.echo();
                var wrong = ScriptedBackend.echo();
                var proxy = start(
                        transport,
                        QUICK_CHECKS.formatted("cut").replace("tcp,", "tcp, port: " + wrong.port() + ",")
                                + ", panic: {threshold: 100%, mode: spread}",
                        first,
                        second)) {
            awaitUp(proxy, "a", "b");
            List<ScriptedClient> clients = hold(proxy, 10);
            wrong.stopListening();
            Await.until(
                    "both are down",
                    () -> proxy.cell("a").fitness().unfit(Unfit.DOWN)
                            && proxy.cell("b").fitness().unfit(Unfit.DOWN));
            assertTrue(proxy.proxy().snapshot().backends().get(0).cell().panic());
            proxy.pass(Duration.ofSeconds(5)); // whoever is cut would be cut by now
            long checks = proxy.cell("a").fitness().checksFailed();
            Await.until("some more checks", () -> proxy.cell("a").fitness().checksFailed() >= checks + 5);

            for (ScriptedClient client : clients) {
                ping(client);
            }
            assertTrue(served(proxy), "connections are spread over all");
            Await.equal(
                    "the ten are left",
                    10,
                    () -> proxy.cell("a").inFlight() + proxy.cell("b").inFlight());
            clients.forEach(ScriptedClient::close);
        }
    }

    @EachTransport
    @Tag("slow")
    void inPanicARefusingBackendTakesNoConnections(Wish transport) throws Exception {
        try (var first = ScriptedBackend.echo();
                var wrong = ScriptedBackend.refusing();
                var proxy = start(
                        transport,
                        QUICK_CHECKS.formatted("keep").replace("tcp,", "tcp, port: " + wrong.port() + ",")
                                + ", panic: {mode: refuse}",
                        first)) {
            Await.until("it is down", () -> proxy.cell("a").fitness().unfit(Unfit.DOWN));

            assertFalse(served(proxy));

            assertEquals(CloseReason.NO_ENDPOINT, proxy.awaitRecord(0).reason);
        }
    }

    @EachTransport
    @Tag("slow")
    void anEndpointThatIsBackIsUpAgain(Wish transport) throws Exception {
        try (var dying = ScriptedBackend.echo();
                var other = ScriptedBackend.echo();
                var proxy = start(transport, QUICK_CHECKS.formatted("keep"), dying, other)) {
            awaitUp(proxy, "a", "b");
            dying.stopListening();
            Await.until("it is down", () -> proxy.cell("a").fitness().unfit(Unfit.DOWN));
            try (var back =
                    ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onPort(dying.port()), Scripts.echo())) {
                Await.until("it is up", () -> proxy.cell("a").fitness().fit());

                for (int i = 0; i < 2; i++) {
                    assertTrue(served(proxy));
                }
                assertTrue(back.connections().stream().anyMatch(it -> it.bytesReceived() > 0), "no client came to it");
            }
        }
    }

    /** It was "down: connected", with no word of why. */
    @Test
    @Tag("slow")
    void whoPassesAndIsHeldDownIsSaidToBe() throws Exception {
        String checks =
                "outlier: off, health: {type: tcp, interval: 500ms, fast-interval: 50ms, timeout: 1s, rise: 4, fall: 1}";
        ScriptedBackend flapping = ScriptedBackend.echo();
        try (var proxy = start(Wish.EPOLL, checks, flapping)) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            awaitUp(proxy, "a");
            for (int fall = 1; fall <= 2; fall++) {
                flapping.close();
                Await.until("it is down", () -> proxy.cell("a").fitness().unfit(Unfit.DOWN));
                flapping =
                        ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onPort(flapping.port()), Scripts.echo());
                if (fall == 1) {
                    awaitUp(proxy, "a");
                }
            }

            Await.equal(
                    "held down",
                    "down, held down: connected",
                    () -> operator.endpointNow("a").reason());
            assertTrue(operator.endpointNow("a").health().heldMs() > 0);
        } finally {
            flapping.close();
        }
    }

    @EachTransport
    @Tag("slow")
    void theFirstRoundIsOverWhenEachEndpointHasBeenCheckedAndNotBefore(Wish transport) throws Exception {
        String checks = "health: {type: tcp, interval: 1h, fast-interval: 1h, timeout: 1s, fall: 1}";
        try (var echo = ScriptedBackend.echo();
                var hole = ScriptedBackend.blackHole();
                var proxy = start(transport, checks, echo, hole)) {
            Await.until("the first is checked", () -> proxy.cell("a").fitness().checksPassed() == 1);
            boolean over = proxy.proxy().firstChecksOver();
            CompletableFuture<Boolean> knowsBoth = proxy.proxy()
                    .firstChecks()
                    .thenApply(done -> proxy.proxy().firstChecksOver()
                            && proxy.cell("b").fitness().unfit(Unfit.DOWN));
            boolean both =
                    proxy.cell("b").fitness().lastCheckMillis() != 0; // on a machine that was held up for a second
            assertTrue(both || !over, "the other is not checked yet");

            assertTrue(knowsBoth.get(10, TimeUnit.SECONDS), "what was found is in force");

            assertEquals(1, proxy.cell("b").fitness().checksFailed());
        }
    }

    /** One that takes over waits while the other one has them up still, and not for those that will not come. */
    @EachTransport
    @Tag("slow")
    void aFrontendWaitsForACandidateWhileOneOfItsEndpointsPassesChecksButNotWhileAllFail(Wish transport)
            throws Exception {
        String checks =
                "health: {type: tcp, interval: 1h, fast-interval: 1h, timeout: 1s, rise: 2, initial: down}, panic:"
                        + " {mode: refuse}";
        try (var echo = ScriptedBackend.echo();
                var proxy = start(transport, checks, echo)) {
            Await.until(
                    "it has passed once",
                    () -> proxy.cell("a").fitness().checksPassed() == 1
                            && proxy.proxy().firstChecksOver());
            assertFalse(proxy.cell("a").fitness().fit());

            assertEquals(List.of("front"), proxy.proxy().awaitingCandidate());

            proxy.cell("a").close(EndpointCell.Closed.DISABLED, true);
            assertEquals(List.of(), proxy.proxy().awaitingCandidate());
        }
        try (var gone = ScriptedBackend.refusing();
                var proxy = start(transport, checks, gone)) {
            Await.until("it has failed once", () -> proxy.cell("a").fitness().checksFailed() == 1);

            Await.equal("who waits", List.of(), () -> proxy.proxy().awaitingCandidate());
        }
    }

    @Test
    void whoWaitsForTheFirstRoundIsToldThatTheProxyHasEnded() throws Exception {
        String checks = "health: {type: tcp, interval: 1h, timeout: 10m}";
        try (var hole = ScriptedBackend.blackHole();
                var proxy = start(Wish.NIO, checks, hole)) {
            CompletableFuture<Void> waiting = proxy.proxy().firstChecks();
            assertFalse(waiting.isDone());

            proxy.proxy().stopNow();

            assertThrows(ExecutionException.class, () -> waiting.get(10, TimeUnit.SECONDS));
            assertFalse(proxy.proxy().firstChecksOver());
        }
    }

    @EachTransport
    @Tag("slow")
    void withHealthTakenOutByAReloadAllAreUp(Wish transport) throws Exception {
        String patient = QUICK_CHECKS.formatted("keep").replace("timeout: 1s", "timeout: 1m");
        try (var echo = ScriptedBackend.echo();
                var gone = ScriptedBackend.refusing();
                var hole = ScriptedBackend.blackHole();
                var proxy = start(transport, patient, echo, gone, hole)) {
            Await.until("one is down", () -> proxy.cell("b").fitness().unfit(Unfit.DOWN));
            EndpointCell cell = proxy.cell("b");
            assertFalse(proxy.proxy().firstChecksOver(), "the first check of one has no answer");

            int port = proxy.proxy().listeningOn().values().iterator().next().getPort();
            proxy.reload(yaml(port, "outlier: off", echo, gone));

            assertTrue(cell.fitness().fit());
            // The checks' thread says so when it has heard that nobody is left to wait for.
            Await.until("nobody waits for a first check", () -> proxy.proxy().firstChecksOver());
            long checks = cell.fitness().checksFailed();
            proxy.reload(yaml(port, QUICK_CHECKS.formatted("keep"), echo, gone));
            Await.until("checked again, and down", () -> cell.fitness().unfit(Unfit.DOWN));
            assertTrue(cell.fitness().checksFailed() > checks);
        }
    }

    /** A checker that begins with "down" and a judge that was told nothing of it left dead endpoints in service for ever. */
    @ParameterizedTest
    @ValueSource(strings = {"up", "down", "unknown"})
    @Tag("slow")
    void whenAReloadBringsChecksADeadEndpointGoesOutWhateverIsInitial(String initial) throws Exception {
        String checks = QUICK_CHECKS.formatted("keep, initial: " + initial);
        try (var echo = ScriptedBackend.echo();
                var gone = ScriptedBackend.refusing();
                var proxy = start(Wish.EPOLL, "outlier: off", echo, gone)) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            int port = proxy.proxy().listeningOn().values().iterator().next().getPort();

            proxy.reload(yaml(port, "outlier: off, " + checks, echo, gone));

            assertTrue(proxy.cell("a").fitness().fit(), "it served before, and goes on");
            Await.until("the dead one is out", () -> proxy.cell("b").fitness().unfit(Unfit.DOWN));
            EndpointView dead = operator.endpointNow("b");
            assertEquals("down", dead.health().state());
            assertFalse(dead.up());
            assertTrue(dead.reason().startsWith("down: "), dead::reason);
            assertTrue(proxy.cell("a").fitness().fit());
            // Off and on: again both serve at first, and again the dead one goes.
            proxy.reload(yaml(port, "outlier: off", echo, gone));
            assertTrue(proxy.cell("b").fitness().fit());
            assertNull(operator.endpointNow("b").health());
            proxy.reload(yaml(port, "outlier: off, " + checks, echo, gone));
            Await.until("it is out again", () -> proxy.cell("b").fitness().unfit(Unfit.DOWN));
            assertTrue(proxy.cell("a").fitness().fit());
        }
    }

    /** One failed check took out, and cut, what had served without a check: the first result decided. */
    @Test
    @Tag("slow")
    void whoServedBeforeItsChecksBeganGoesOutByAsManyFailuresAsAnyOther() throws Exception {
        String checks = "outlier: off, health: {type: send-expect, steps: [{send: x}, {expect: nothing-like-it}],"
                + " interval: 1h, fast-interval: 1h, timeout: 200ms, fall: 2, on-down: cut}";
        try (var echo = ScriptedBackend.echo();
                var proxy = start(Wish.EPOLL, "outlier: off", echo)) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            List<ScriptedClient> clients = hold(proxy, 5);
            int port = proxy.proxy().listeningOn().values().iterator().next().getPort();

            proxy.reload(yaml(port, checks, echo));
            Await.until(
                    "a check has failed",
                    () -> operator.endpointNow("a").health().inRow() == 1);

            assertEquals("up", operator.endpointNow("a").health().state());
            assertEquals(2, operator.endpointNow("a").health().needed());
            assertTrue(operator.endpointNow("a").up());
            for (ScriptedClient client : clients) {
                ping(client);
            }
            assertTrue(served(proxy));
            // One that is new is not known, and its first check decides.
            try (var silent = ScriptedBackend.echo()) {
                proxy.reload(yaml(port, checks, echo, silent));
                assertFalse(operator.endpointNow("b").up());
                Await.until(
                        "its first check decides",
                        () -> proxy.cell("b").fitness().unfit(Unfit.DOWN));
                assertTrue(proxy.cell("a").fitness().fit());
                proxy.reload(yaml(port, checks, echo));
            }
            clients.forEach(ScriptedClient::close);
        }
    }

    /** haproxy/haproxy#881: a limit of 30 ms was too short for all endpoints alike, and what was made of that raised the load. */
    @EachTransport
    @Tag("slow")
    void aConnectLimitThatIsTooShortForAllEjectsNotAll(Wish transport) throws Exception {
        String hasty = "connect: {timeout: 30ms, attempts: 3}, retry-budget: off, outlier: {consecutive-failures: 2}";
        try (var a = ScriptedBackend.blackHole();
                var b = ScriptedBackend.blackHole();
                var c = ScriptedBackend.blackHole();
                var proxy = start(transport, hasty, a, b, c)) {
            List<EndpointCell> cells = List.of(proxy.cell("a"), proxy.cell("b"), proxy.cell("c"));
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            for (int i = 0; i < 10; i++) {
                assertFalse(served(proxy));
                long ejected = cells.stream()
                        .filter(cell -> cell.fitness().unfit(Unfit.EJECTED))
                        .count();
                assertTrue(ejected <= 1, () -> "ejected at a time: " + ejected);
            }

            Await.until(
                    "one is ejected",
                    () -> cells.stream().anyMatch(cell -> cell.fitness().unfit(Unfit.EJECTED)));
            assertEquals(2, cells.stream().filter(cell -> cell.fitness().fit()).count());
            // The client sees its end before it is counted.
            Await.until(
                    "all have ended by time-outs",
                    () -> operator.frontendNow("front").closed().get(CloseReason.DIAL_TIMEOUT.word()) == 10);
            Await.until(
                    "no attempt is left half-open",
                    () -> cells.stream().allMatch(cell -> cell.inFlight() == 0)
                            && Sockets.count(
                                            Sockets.State.SYN_SENT,
                                            entry -> List.of(a.address(), b.address(), c.address())
                                                    .contains(entry.remote()))
                                    == 0);
        }
    }

    /** envoyproxy/envoy#15415: nobody knew whether 1 or 0 of the breaker's gauge meant that it was open. */
    @Test
    @Tag("slow")
    void metricOperatorsAndLogSayTheSameOfABreakerInWords() throws Exception {
        String breaker = "outlier: off, breaker: {consecutive-failures: 2, open: 1h}";
        try (var refusing = ScriptedBackend.refusing();
                var echo = ScriptedBackend.echo();
                var proxy = start(Wish.EPOLL, breaker, refusing, echo);
                var log = new LogLines("dev.tidegate.control.Health")) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            assertEquals("closed", operator.endpointNow("a").breaker().state());
            assertEquals("0.0", sample(operator.scrape(), BREAKER_SERIES));

            for (int i = 0; i < 4; i++) {
                assertTrue(served(proxy));
            }
            Await.equal(
                    "what operators see",
                    "open",
                    () -> operator.endpointNow("a").breaker().state());

            assertEquals("its breaker is open", operator.endpointNow("a").reason());
            String text = operator.scrape();
            assertEquals("1.0", sample(text, BREAKER_SERIES));
            assertTrue(
                    sample(text, "# HELP tidegate_endpoint_state")
                            .contains("breaker-open is 1 while connects to it are not made."),
                    text);
            assertTrue(
                    log.messages().stream()
                            .anyMatch(line -> line.startsWith("breaker-open backend=back endpoint="
                                    + refusing.hostPort() + " why=\"2 connects in a row failed")),
                    log.messages()::toString);
            assertEquals("closed", operator.endpointNow("b").breaker().state());
        }
    }

    private static final String BREAKER_SERIES =
            "tidegate_endpoint_state{backend=\"back\",endpoint=\"a\",state=\"breaker-open\"}";

    /** The rest of the line that begins so. */
    private static String sample(String text, String beginning) {
        return text.lines()
                .filter(line -> line.startsWith(beginning + " "))
                .map(line -> line.substring(beginning.length() + 1))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line begins with " + beginning + " in\n" + text));
    }

    // ---- how

    private static ReloadFixture start(Wish transport, String more, ScriptedBackend... backends) throws Exception {
        return ReloadFixture.start(transport, yaml(ReloadFixture.port(), more, backends));
    }

    private static ScriptedClient connect(ReloadFixture proxy) throws IOException {
        return ScriptedClient.connect(
                proxy.proxy().listeningOn().values().iterator().next());
    }

    private static void awaitUp(ReloadFixture proxy, String... names) {
        for (String name : names) {
            Await.until(name + " is up", () -> proxy.cell(name).fitness().fit());
        }
    }

    /** Whether a new client gets its answer, and a clean end. */
    private static boolean served(ReloadFixture proxy) throws IOException {
        try (ScriptedClient client = connect(proxy)) {
            ping(client);
            client.shutdownOutput();
            return client.readToEnd().kind() == End.Kind.FIN;
        } catch (PeerGoneException reset) {
            return false;
        }
    }

    private static List<ScriptedClient> hold(ReloadFixture proxy, int count) throws IOException {
        List<ScriptedClient> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ScriptedClient client = connect(proxy);
            ping(client);
            clients.add(client);
        }
        return clients;
    }

    private static void ping(ScriptedClient client) throws IOException {
        client.send("ping");
        assertEquals("ping", client.readText(4));
    }

    /** Endpoints a, b and so on, in turn, with more keys for their backend. */
    private static String yaml(int port, String more, ScriptedBackend... backends) {
        List<String> endpoints = new ArrayList<>();
        for (ScriptedBackend backend : backends) {
            endpoints.add(ReloadFixture.endpoint(String.valueOf((char) ('a' + endpoints.size())), backend));
        }
        return """
                frontends: [{name: front, listen: "127.0.0.1:%d", backend: back}]
                backends:
                  - {name: back, balance: round-robin, endpoints: [%s], %s}
                """.formatted(port, String.join(", ", endpoints), more);
    }
}
