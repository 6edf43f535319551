package dev.tidegate.proxy;

import static dev.tidegate.proxy.OperatorFixture.endpoint;
import static dev.tidegate.proxy.ReloadFixture.assertEchoes;
import static dev.tidegate.proxy.ReloadFixture.connect;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who leaves when an endpoint joins or comes back, and who does not. */
class RebalanceTest {
    private static final String BY_ITSELF = "{on-join: true, spread: 10ms}";
    /** So slow that nobody has left yet when the test looks. */
    private static final String SLOWLY = "{on-join: true, spread: 1d}";

    private final ScriptedBackend a = ScriptedBackend.echo();
    private final ScriptedBackend b = ScriptedBackend.echo();
    private final ScriptedBackend c = ScriptedBackend.echo();
    private final List<ScriptedClient> clients = new ArrayList<>();
    private final int port = ReloadFixture.port();
    private ReloadFixture proxy;
    private OperatorFixture operator;

    @BeforeEach
    void nothing() {
        assertEquals(List.of(), clients);
    }

    @AfterEach
    void close() {
        clients.forEach(ScriptedClient::close);
        proxy.close();
        a.close();
        b.close();
        c.close();
    }

    private String yaml(String rebalance, String... endpoints) {
        return """
                frontends:
                  - name: front
                    listen: "127.0.0.1:%d"
                    backend: back
                    lifetime: {quiet: 20ms, grace: 1h}
                backends:
                  - {name: back, balance: least-connections, endpoints: [%s], rebalance: %s}
                """.formatted(port, String.join(", ", endpoints), rebalance);
    }

    private void start(String rebalance, String... endpoints) throws Exception {
        proxy = ReloadFixture.start(Wish.EPOLL, yaml(rebalance, endpoints));
        operator = new OperatorFixture(proxy.proxy());
    }

    private void open(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            ScriptedClient client = connect(port);
            clients.add(client);
            assertEchoes(client);
        }
    }

    private static String one(String name, ScriptedBackend backend) {
        return ReloadFixture.endpoint(name, backend);
    }

    private void add(String name, ScriptedBackend backend) throws Exception {
        operator.done(
                new Command.AddEndpoint("back", name, backend.hostPort(), OptionalInt.empty(), OptionalInt.empty()));
    }

    private List<OperationView> rebalances() throws Exception {
        return proxy.proxy().operations().get(10, TimeUnit.SECONDS).stream()
                .filter(operation -> operation.kind().equals("rebalance"))
                .toList();
    }

    /** Waits until the newest is done, and answers it. */
    private OperationView awaitDone() throws Exception {
        OperationView newest = rebalances().get(0);
        return operator.await(newest.id(), "done");
    }

    /** As clients do, that see the end; the proxy would wait for them for two seconds. */
    private void closeThoseThatWereEnded() {
        clients.stream()
                .filter(client -> client.isOpen() && client.kernelState() == Sockets.State.CLOSE_WAIT)
                .forEach(ScriptedClient::close);
    }

    private void assertTheExcessLeft(int excess) throws Exception {
        Await.until("records", () -> {
            closeThoseThatWereEnded();
            return proxy.records().size() == excess;
        });
        OperationView done = awaitDone();
        assertEquals("backends/back", done.target());
        assertEquals(excess, done.total());
        assertEquals(excess, done.retired());
        assertEquals(0, done.cut());
        assertEquals(1, rebalances().size());
        proxy.records().forEach(record -> {
            assertEquals(CloseReason.REBALANCE, record.reason);
            assertEquals(RetireHow.QUIET, record.how);
        });
        assertEquals(excess, operator.frontendNow("front").closed().get("rebalance"));
    }

    @Test
    @Tag("slow")
    void oneThatIsAddedTakesOverWhatIsAboveTheFairShareAndNoMore() throws Exception {
        start(BY_ITSELF, one("a", a));
        open(10);

        add("b", b);

        assertTheExcessLeft(5);
        assertEquals(5, operator.endpointNow("a").inFlight());
        open(5); // as the clients that left do
        assertEquals(5, operator.endpointNow("b").inFlight());
        assertEquals(1, rebalances().size());
    }

    @Test
    @Tag("slow")
    void oneThatAReloadBringsTakesOver() throws Exception {
        start(BY_ITSELF, one("a", a));
        open(6);

        proxy.reload(yaml(BY_ITSELF, one("a", a), one("b", b)));

        assertTheExcessLeft(3);
    }

    @ParameterizedTest
    @Tag("slow")
    @ValueSource(strings = {"undrain", "enable", "weight"})
    void oneThatComesBackTakesOver(String how) throws Exception {
        start(BY_ITSELF, one("a", a), one("b", b));
        switch (how) {
            case "undrain" -> operator.drain(endpoint("b"));
            case "enable" -> operator.done(new Command.Disable(endpoint("b")));
            default -> operator.done(new Command.SetWeight(endpoint("b"), 0));
        }
        open(8);
        assertEquals(List.of(), rebalances());

        switch (how) {
            case "undrain" -> operator.undrain(endpoint("b"));
            case "enable" -> operator.done(new Command.Enable(endpoint("b")));
            default -> operator.done(new Command.ResetWeight(endpoint("b")));
        }

        assertTheExcessLeft(4);
    }

    @Test
    @Tag("slow")
    void oneWhoseNameIsFoundLaterTakesOver() throws Exception {
        try (FakeDns dns = new FakeDns()) {
            dns.answer(FakeDns.Mode.NXDOMAIN);
            int portOfB = b.port();
            proxy = ReloadFixture.start(
                    Wish.EPOLL,
                    yaml(BY_ITSELF, one("a", a), "{name: b, address: \"b.test:" + portOfB + "\"}"),
                    dns.provider());
            operator = new OperatorFixture(proxy.proxy());
            open(8);
            assertEquals(List.of(), rebalances());

            dns.answer(1);

            Await.until("a rebalance", () -> !rebalancesNow().isEmpty());
            assertTheExcessLeft(4);
        }
    }

    private List<OperationView> rebalancesNow() {
        try {
            return rebalances();
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    @Test
    @Tag("slow")
    void nobodyLeavesUnlessTheConfigurationSaysSo() throws Exception {
        start("{on-join: false}", one("a", a));
        open(10);

        add("b", b);

        assertEquals(List.of(), rebalances());
        assertEquals(10, operator.endpointNow("a").inFlight());
    }

    @Test
    @Tag("slow")
    void aSecondJoinTakesThePlaceOfTheFirstAndReckonsAnew() throws Exception {
        start(SLOWLY, one("a", a));
        open(12);

        add("b", b);
        OperationView first = rebalances().get(0);
        assertEquals(6, first.total());
        add("c", c);

        assertEquals("cancelled", operator.look(first.id()).state());
        OperationView second = rebalances().get(0);
        assertEquals("running", second.state());
        assertEquals(8, second.total()); // of twelve on a, four stay
        assertEquals(8, second.remaining());
        assertEquals(2, rebalances().size());
    }

    @Test
    @Tag("slow")
    void whenTheOneThatJoinedGoesAwayAgainNobodyElseLeaves() throws Exception {
        start(SLOWLY, one("a", a));
        open(10);
        add("b", b);
        OperationView first = rebalances().get(0);

        operator.drain(endpoint("b"));

        assertEquals("cancelled", operator.look(first.id()).state());
        assertEquals(1, rebalances().size());
        assertEquals(0, softLimits());
    }

    private long softLimits() throws Exception {
        return operator.connections().stream()
                .filter(connection -> connection.softLimitInMs() != null)
                .count();
    }

    /** Those that leave a drained endpoint fill the new one: none of the others has to. */
    @Test
    @Tag("slow")
    void whatIsOnItsWayFromADrainedEndpointIsReckonedWith() throws Exception {
        start(SLOWLY, one("a", a), one("b", b));
        open(20);
        assertEquals(10, operator.endpointNow("a").inFlight());
        operator.drain(endpoint("b"), null, Duration.ofHours(1), DrainMode.GRACEFUL);

        add("c", c);

        assertEquals(List.of(), rebalances());
        assertEquals(10, softLimits()); // those of b
    }

    @Test
    @Tag("slow")
    void anOperatorsRebalanceLeavesTheShareThatIsConfigured() throws Exception {
        start("{max-share: 150%, spread: 1d}", one("a", a));
        open(10);
        add("b", b);

        Command command = new Command.Rebalance("back", Optional.empty());
        assertEquals(3, operator.started(command).total()); // a fair share is 5, and 7 stay
        assertEquals(3, operator.started(command).total()); // again: the same three, not three more
        assertEquals("cancelled", rebalances().get(1).state());
    }

    @Test
    @Tag("slow")
    void thoseSilentForLongestGoFirst() throws Exception {
        start(SLOWLY, one("a", a));
        open(6);
        Set<String> spoken = new HashSet<>();
        for (int i : new int[] {0, 3, 5}) {
            proxy.pass(Duration.ofSeconds(1));
            assertEchoes(clients.get(i));
            String client = clients.get(i).localAddress().toString();
            spoken.add(client.substring(client.indexOf('/') + 1));
        }

        add("b", b);

        for (ConnectionView connection : operator.connections()) {
            boolean stays = connection.softLimitInMs() == null;
            assertEquals(spoken.contains(connection.client()), stays, connection::toString);
            assertTrue(stays || connection.softLimitInMs() <= Duration.ofDays(1).toMillis(), connection::toString);
        }
    }
}
