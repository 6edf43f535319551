package dev.tidegate.proxy;

import static dev.tidegate.proxy.ReloadFixture.assertEchoes;
import static dev.tidegate.proxy.ReloadFixture.awaitRefused;
import static dev.tidegate.proxy.ReloadFixture.connect;
import static dev.tidegate.proxy.ReloadFixture.connectTo;
import static dev.tidegate.proxy.ReloadFixture.endpoint;
import static dev.tidegate.proxy.ReloadFixture.named;
import static dev.tidegate.proxy.ReloadFixture.yaml;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.view.OperationView;
import dev.tidegate.control.ConfigDiff;
import dev.tidegate.control.ReloadResult;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import dev.tidegate.model.Snapshot;
import dev.tidegate.telemetry.ReloadCounts.Result;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Another configuration is put in force under connections that go on. */
class ReloadTest {
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.METHOD)
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    private @interface OnEachTransport {}

    private static final Duration PAST_SPREAD_AND_QUIET = Duration.ofSeconds(16);
    private static final Duration PAST_DEADLINE = Duration.ofSeconds(301);

    private static List<String> lines(ReloadResult result) {
        return result.diff().changes().stream().map(ConfigDiff.Change::toString).toList();
    }

    private static String front(int port, String more) {
        return "[{name: front, listen: \"127.0.0.1:" + port + "\", backend: back" + more + "}]";
    }

    // ---- endpoints

    @OnEachTransport
    void aChangedWeightSendsNewConnectionsElsewhereAndLeavesThoseThereAlone(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy =
                        ReloadFixture.start(transport, yaml(port, endpoint("a", a), endpoint("b", b, "weight: 0")));
                var before = connectTo(port, "a")) {
            EndpointCell cell = proxy.cell("a");

            ReloadResult result = proxy.reload(yaml(port, endpoint("a", a, "weight: 0"), endpoint("b", b)));

            assertEquals(Result.APPLIED, result.result());
            assertEquals(2, result.generation());
            assertEquals(
                    List.of(
                            "change backends.back.endpoints.a.weight from 1 to 0",
                            "change backends.back.endpoints.b.weight from 0 to 1"),
                    lines(result));
            for (int i = 0; i < 4; i++) {
                connectTo(port, "b").close();
            }
            assertEchoes(before);
            assertSame(cell, proxy.cell("a"));
            assertEquals(1, cell.inFlight());
        }
    }

    @OnEachTransport
    void aRemovedEndpointGetsNothingNewAndItsConnectionsAreRetiredAtAQuietMoment(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a), endpoint("b", b)));
                var leaves = connectTo(port, "a");
                var stays = connectTo(port, "b")) {
            ReloadResult result = proxy.reload(yaml(port, endpoint("b", b)));

            assertEquals(1, result.diff().changes().size());
            assertEquals(1, result.diff().changes().get(0).connections());
            assertEquals(ConfigDiff.Op.REMOVE, result.diff().changes().get(0).op());
            assertEquals(
                    "backends.back.endpoints.a", result.diff().changes().get(0).path());
            connectTo(port, "b").close();
            assertEchoes(leaves);
            proxy.pass(PAST_SPREAD_AND_QUIET);
            assertEquals(End.Kind.FIN, leaves.readToEnd().kind());
            leaves.shutdownOutput();
            Await.until(
                    "it has its record",
                    () -> proxy.records().stream()
                            .anyMatch(record -> record.reason == CloseReason.ENDPOINT_REMOVED
                                    && record.how == RetireHow.QUIET
                                    && record.endpoint.equals("a")));
            assertEchoes(stays);
        }
    }

    @OnEachTransport
    void whatIsNeverQuietOnARemovedEndpointIsCutAtTheDeadline(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = ScriptedBackend.start(Scripts.streamForever(1));
                var b = named("b");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var client = connect(port)) {
            client.skip(100_000);
            proxy.reload(yaml(port, endpoint("b", b)));
            Await.until(
                    "the client does not keep up",
                    () -> proxy.proxy().counters().stream()
                                    .mapToLong(worker -> worker.paused(Side.UPSTREAM))
                                    .sum()
                            > 0);
            proxy.pass(PAST_DEADLINE);
            proxy.awaitRecord(0);

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            var record = proxy.awaitRecord(0);
            assertEquals(CloseReason.ENDPOINT_REMOVED, record.reason);
            assertEquals(RetireHow.CUT, record.how);
            assertTrue(record.cutMidExchange);
        }
    }

    @OnEachTransport
    void connectionsOfAnEndpointThatComesBackInTimeStay(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a), endpoint("b", b)));
                var client = connectTo(port, "a")) {
            EndpointCell cell = proxy.cell("a");
            proxy.reload(yaml(port, endpoint("b", b)));

            proxy.reload(yaml(port, endpoint("renamed", a)));

            assertSame(cell, proxy.cell("renamed"));
            proxy.pass(PAST_DEADLINE);
            assertEchoes(client);
            connectTo(port, "a").close();
        }
    }

    /** haproxy/haproxy#2506. */
    @OnEachTransport
    void aNameWithAnotherAddressIsAnotherEndpointAndAnAddressWithAnotherNameTheSame(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("one", a)));
                var client = connectTo(port, "a")) {
            EndpointCell cell = proxy.cell("one");

            ReloadResult renamed = proxy.reload(yaml(port, endpoint("two", a)));

            assertEquals(List.of("change backends.back.endpoints.two.name from one to two"), lines(renamed));
            assertSame(cell, proxy.cell("two"));

            ReloadResult moved = proxy.reload(yaml(port, endpoint("two", b)));

            assertEquals(
                    List.of("change backends.back.endpoints.two.address from " + a.hostPort() + " to " + b.hostPort()
                            + ", retires connections: 1"),
                    lines(moved));
            assertNotSame(cell, proxy.cell("two"));
            connectTo(port, "b").close();
            assertEchoes(client);
        }
    }

    /** nginx/nginx-gateway-fabric#5524. */
    @OnEachTransport
    void endpointsThatComeAndGoDoNotTouchTheConnectionsOfOthers(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var c = named("c");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a), endpoint("b", b)));
                var first = connectTo(port, "a");
                var second = connectTo(port, "b")) {
            for (int i = 0; i < 20; i++) {
                proxy.reload(yaml(port, endpoint("a", a), endpoint("b", b), endpoint("c", c)));
                proxy.reload(yaml(port, endpoint("a", a), endpoint("b", b)));
            }
            assertEquals(41, proxy.proxy().snapshot().generation());
            proxy.pass(PAST_DEADLINE);
            assertEchoes(first);
            assertEchoes(second);
            assertEquals(List.of(), proxy.records());
        }
    }

    /** haproxy/haproxy#155. */
    @OnEachTransport
    @Tag("slow")
    void aHundredReloadsLeaveNothingBehind(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)))) {
            proxy.reload(yaml(port, endpoint("b", b)));
            proxy.reload(yaml(port, endpoint("a", a)));
            long sockets = Sockets.ofThisProcess().size();
            long threads = threads();
            TreeSet<Integer> slots = new TreeSet<>();
            for (int i = 0; i < 50; i++) {
                proxy.reload(yaml(port, endpoint("b", b)));
                connectTo(port, "b").close();
                Await.until("it is gone", () -> proxy.proxy().connections().active() == 0);
                proxy.reload(yaml(port, endpoint("a", a)));
                slots.add(proxy.cell("a").slot());
            }
            assertEquals(103, proxy.proxy().snapshot().generation());
            assertTrue(slots.last() <= 1, () -> "slots given out: " + slots);
            Await.until("sockets are back", () -> Sockets.ofThisProcess().size() <= sockets);
            assertEquals(threads, threads());
        }
    }

    /** haproxy/haproxy#155: what old configurations were made of stayed as long as the process. */
    @OnEachTransport
    void aConfigurationGoesWithItsLastConnection(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        List<WeakReference<Snapshot>> old = new ArrayList<>();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)))) {
            List<ScriptedClient> clients = new ArrayList<>();
            for (int weight = 2; weight < 12; weight++) {
                clients.add(connectTo(port, "a"));
                old.add(new WeakReference<>(proxy.proxy().snapshot()));
                proxy.reload(yaml(port, endpoint("a", a, "weight: " + weight)));
            }
            for (ScriptedClient client : clients) {
                assertEchoes(client);
                client.close();
            }
            connectTo(port, "a").close();
            Await.until("they are gone", () -> proxy.proxy().connections().active() == 0);
            Await.until("old configurations are gone", () -> {
                System.gc();
                return old.stream().allMatch(snapshot -> snapshot.get() == null);
            });
        }
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("tidegate-"))
                .count();
    }

    @OnEachTransport
    void aSlotIsNotGivenAwayWhileAConnectionIsOnIt(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var c = named("c");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            int taken = proxy.cell("a").slot();
            proxy.reload(yaml(port, endpoint("b", b)));
            proxy.reload(yaml(port, endpoint("c", c)));

            assertNotEquals(taken, proxy.cell("c").slot());
            client.shutdownOutput();
            Await.until("nothing in flight", () -> proxy.proxy().connections().active() == 0);
            proxy.reload(yaml(port, endpoint("b", b)));
            proxy.reload(yaml(port, endpoint("c", c), endpoint("b", b), endpoint("a", a)));
            assertTrue(proxy.cell("a").slot() <= 2
                    && proxy.cell("b").slot() <= 2
                    && proxy.cell("c").slot() <= 2);
        }
    }

    @OnEachTransport
    @Tag("slow")
    void aDialUnderWayTriesARemovedEndpointNoMore(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        String connect = "connect: {timeout: 1s, attempts: 5, deadline: 5s}";
        try (var hole = ScriptedBackend.blackHole();
                var b = named("b");
                var proxy = ReloadFixture.start(
                        transport, yaml(port, endpoint("hole", hole)).replace("balance:", connect + ", balance:"));
                var client = connect(port)) {
            Await.until("an attempt is under way", () -> proxy.cell("hole").inFlight() == 1);
            int slot = proxy.cell("hole").slot();
            proxy.reload(yaml(port, endpoint("b", b)));
            long attempts = picks(proxy, slot);

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            var record = proxy.awaitRecord(0);
            assertEquals(CloseReason.DIAL_TIMEOUT, record.reason);
            assertTrue(attempts < 5, () -> "too late: attempts=" + attempts);
            assertEquals(attempts, record.attempts);
        }
    }

    @OnEachTransport
    void roundRobinGoesOnWhereItWas(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a), endpoint("b", b)))) {
            connectTo(port, "a").close();
            proxy.reload(
                    yaml(front(port, ", timeouts: {idle: 2h}"), "round-robin", endpoint("a", a), endpoint("b", b)));
            connectTo(port, "b").close();
            proxy.reload(
                    yaml(front(port, ", timeouts: {idle: 3h}"), "round-robin", endpoint("a", a), endpoint("b", b)));
            connectTo(port, "a").close();
        }
    }

    @OnEachTransport
    void anotherPolicyHoldsForTheNextConnectionWithTheCountsThatAreThere(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy =
                        ReloadFixture.start(transport, yaml(port, endpoint("a", a), endpoint("b", b, "weight: 0")));
                var one = connectTo(port, "a");
                var two = connectTo(port, "a")) {
            proxy.reload(yaml(front(port, ""), "least-connections", endpoint("a", a), endpoint("b", b)));
            try (var three = connectTo(port, "b");
                    var four = connectTo(port, "b")) {
                assertEchoes(three);
                assertEchoes(four);
            }
            assertEchoes(one);
            assertEchoes(two);
        }
    }

    // ---- frontends

    @OnEachTransport
    void aFrontendMovesToAnotherAddressAndItsConnectionsGoOn(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        int other = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            ReloadResult result = proxy.reload(yaml(other, endpoint("a", a)));

            assertEquals(
                    List.of("change frontends.front.listen from 127.0.0.1:" + port + " to 127.0.0.1:" + other),
                    lines(result));
            awaitRefused(port);
            connectTo(other, "a").close();
            assertEchoes(client);
            assertEquals(
                    Map.of("front 127.0.0.1:" + other, new InetSocketAddress(InetAddress.getLoopbackAddress(), other)),
                    proxy.proxy().listeningOn());
        }
    }

    private static List<Long> listeners(int... ports) {
        List<Long> inodes = new ArrayList<>();
        for (int port : ports) {
            inodes.addAll(Sockets.ofThisProcess().stream()
                    .filter(entry -> entry.state() == Sockets.State.LISTEN
                            && entry.local().getPort() == port)
                    .map(Sockets.Entry::inode)
                    .toList());
        }
        return inodes;
    }

    /** dcm4che/dcm4chee-arc-light#4997. */
    @OnEachTransport
    @Tag("slow")
    void swappedPortsChangeHandsWithoutTouchingASocket(Wish transport) throws Exception {
        int one = ReloadFixture.port();
        int two = ReloadFixture.port();
        String yaml = """
                frontends:
                  - {name: left, listen: "127.0.0.1:%d", backend: a, timeouts: {unacked: 1m}}
                  - {name: right, listen: "127.0.0.1:%d", backend: b}
                backends:
                  - {name: a, endpoints: [%s]}
                  - {name: b, endpoints: [%s]}
                """;
        try (var a = named("a");
                var b = named("b");
                var proxy =
                        ReloadFixture.start(transport, yaml.formatted(one, two, endpoint("a", a), endpoint("b", b)));
                var left = connectTo(one, "a");
                var right = connectTo(two, "b")) {
            List<Long> inodes = listeners(one, two);

            ReloadResult result = proxy.reload(yaml.formatted(two, one, endpoint("a", a), endpoint("b", b)));

            assertEquals(Result.APPLIED, result.result());
            assertEquals(2, inodes.size());
            assertEquals(inodes, listeners(one, two));
            connectTo(one, "b").close();
            connectTo(two, "a").close();
            assertEchoes(left);
            assertEchoes(right);
            proxy.awaitRecord(1);
            assertEquals(
                    Set.of("left", "right"),
                    proxy.records().stream().map(record -> record.frontend).collect(Collectors.toSet()));
        }
    }

    @OnEachTransport
    void anAddressGoesToAnotherFrontendWithoutTouchingTheSocket(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            List<Long> inodes = listeners(port);

            ReloadResult result = proxy.reload(yaml(port, endpoint("a", a)).replace("name: front", "name: other"));

            assertEquals(
                    List.of("frontends.other 0", "frontends.front 1"),
                    result.diff().changes().stream()
                            .map(change -> change.path() + " " + change.connections())
                            .toList());
            assertEquals(inodes, listeners(port));
            connectTo(port, "a").close();
            assertEquals("other", proxy.awaitRecord(0).frontend);
            assertEchoes(client);
            proxy.pass(PAST_SPREAD_AND_QUIET);
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.shutdownOutput();
            var record = proxy.awaitRecord(1);
            assertEquals("front", record.frontend);
            assertEquals(CloseReason.DRAIN, record.reason);
            assertEquals(RetireHow.QUIET, record.how);
        }
    }

    /** One operation for all that a reload takes away: it is cancelled once all of that is back, and not before. */
    @EachTransport
    void aRemovalOfSeveralEndpointsIsCancelledWhenTheLastOfThemIsBack(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var c = named("c")) {
            String all = ReloadFixture.yaml(port, endpoint("a", a), endpoint("b", b), endpoint("c", c));
            try (var proxy = ReloadFixture.start(transport, all);
                    var one = ReloadFixture.connect(port);
                    var two = ReloadFixture.connect(port);
                    var three = ReloadFixture.connect(port)) {
                for (var client : List.of(one, two, three)) {
                    client.readText(1);
                }
                OperatorFixture operator = new OperatorFixture(proxy.proxy());
                proxy.reload(ReloadFixture.yaml(port, endpoint("c", c)));
                OperationView removal = operator.look("op-1");
                assertEquals("running", removal.state());
                assertEquals(2, removal.remaining());

                proxy.reload(ReloadFixture.yaml(port, endpoint("b", b), endpoint("c", c)));
                OperationView half = operator.look("op-1");
                assertEquals("running", half.state());
                assertEquals(2, half.total());
                assertEquals(1, half.remaining());

                proxy.reload(all);
                OperationView undone = operator.look("op-1");
                assertEquals("cancelled", undone.state());
                assertEquals(2, undone.total());
                assertEquals(2, undone.remaining());
                for (var client : List.of(one, two, three)) {
                    ReloadFixture.assertEchoes(client);
                }
            }
        }
    }

    @OnEachTransport
    void connectionsOfAFrontendThatComesBackInTimeStay(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        int other = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            proxy.reload(yaml(other, endpoint("a", a)).replace("name: front", "name: other"));
            awaitRefused(port);
            proxy.reload(yaml(port, endpoint("a", a)));
            awaitRefused(other);
            proxy.pass(PAST_DEADLINE);
            assertEchoes(client);
            assertEquals(1, proxy.proxy().snapshot().frontend("front").cell().active());
        }
    }

    /** processone/ejabberd#3850. */
    @OnEachTransport
    void anAddressThatIsBusyElsewhereRefusesTheWholeReloadAndCanBeHadOnceItIsFree(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        int fresh = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            String wanted;
            try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                wanted = yaml(
                        "[{name: new, listen: \"127.0.0.1:" + fresh + "\", backend: back},"
                                + "{name: front, listen: \"127.0.0.1:" + busy.getLocalPort() + "\", backend: back}]",
                        "random",
                        endpoint("b", b));

                ReloadResult result = proxy.reload(wanted);

                assertEquals(Result.REJECTED, result.result());
                assertEquals(1, result.generation());
                assertEquals(
                        "frontend \"front\": cannot listen on 127.0.0.1:" + busy.getLocalPort()
                                + ": the address is already in use",
                        result.reason());
                awaitRefused(fresh);
                connectTo(port, "a").close();
                assertEchoes(client);
                assertEquals(1, proxy.proxy().snapshot().generation());
                assertEquals(1, proxy.proxy().reloads().of(Result.REJECTED));
            }

            assertEquals(Result.APPLIED, proxy.reload(wanted).result());
            connectTo(fresh, "b").close();
            awaitRefused(port);
            assertEchoes(client);
        }
    }

    /** dcm4che/dcm4chee-arc-light#4997. */
    @OnEachTransport
    void anAddressThatOverlapsOneOfOurOwnIsRefusedInPlainWords(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        String wildcard = yaml(front(port, "").replace("127.0.0.1", "0.0.0.0"), "random");
        try (var a = named("a");
                var proxy = ReloadFixture.start(
                        transport, wildcard.replace("endpoints: []", "endpoints: [" + endpoint("a", a) + "]"));
                var client = connectTo(port, "a")) {
            ReloadResult result = proxy.reload(yaml(port, endpoint("a", a)));

            assertEquals(Result.REJECTED, result.result());
            assertEquals(
                    "frontend \"front\": cannot listen on 127.0.0.1:" + port
                            + ": the address is already in use, by 0.0.0.0:"
                            + port + " of frontend \"front\", which this process still listens on; take that away with"
                            + " one reload and add this with the next, or restart",
                    result.reason());
            connectTo(port, "a").close();
            assertEchoes(client);
        }
    }

    @OnEachTransport
    @Tag("slow")
    void aTimeoutHoldsForNewConnectionsOnly(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var before = connectTo(port, "a")) {
            ReloadResult result =
                    proxy.reload(yaml(front(port, ", timeouts: {idle: 300ms}"), "round-robin", endpoint("a", a)));

            assertEquals(List.of("change frontends.front.timeouts.idle from 1h to 300ms"), lines(result));
            try (var after = connectTo(port, "a")) {
                assertEquals(End.Kind.FIN, after.readToEnd().kind());
            }
            assertEquals(CloseReason.IDLE, proxy.awaitRecord(0).reason);
            assertEquals(2, proxy.awaitRecord(0).generation);
            assertEchoes(before);
        }
    }

    /** MeetMe/newrelic-plugin-agent#294. */
    @OnEachTransport
    void countersAndGaugesGoOn(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            connectTo(port, "a").close();
            proxy.awaitRecord(0);
            proxy.reload(yaml(
                    front(port, ", max-connections: 2"),
                    "random",
                    endpoint("a", a),
                    endpoint("b", a).replace(a.hostPort(), "127.0.0.2:" + a.port())));

            assertEquals(2, accepted(proxy));
            assertEquals(2, picks(proxy, proxy.cell("a").slot()));
            assertEquals(1, proxy.cell("a").inFlight());
            assertEquals(1, proxy.proxy().snapshot().frontend("front").cell().active());
            try (var second = connectTo(port, "a")) {
                assertOneTooMany(port);
                assertEquals(4, accepted(proxy));
                assertTrue(second.isOpen());
            }
            assertEchoes(client);
        }
    }

    /** The reset may come before the connect has returned. */
    private static void assertOneTooMany(int port) throws IOException {
        try (var client = connect(port)) {
            assertEquals(End.Kind.RST, client.readToEnd().kind(), "one too many");
        } catch (PeerGoneException atOnce) {
            assertEquals(Ending.RST, atOnce.ending(), "one too many");
        }
    }

    private static long accepted(ReloadFixture proxy) {
        int slot = proxy.proxy().snapshot().frontend("front").cell().slot();
        return proxy.proxy().counters().stream()
                .map(worker -> worker.readFrontend(slot))
                .filter(row -> row != null)
                .mapToLong(row -> row.accepted)
                .sum();
    }

    private static long picks(ReloadFixture proxy, int slot) {
        return proxy.proxy().counters().stream()
                .map(worker -> worker.readEndpoint(slot))
                .filter(row -> row != null)
                .mapToLong(row -> row.picks)
                .sum();
    }

    // ---- the whole

    @OnEachTransport
    void whatSaysTheSameIsUnchanged(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a), endpoint("b", b)))) {
            ReloadResult result = proxy.reload(yaml(
                    front(port, ", timeouts: {idle: 60m}"),
                    "round-robin",
                    endpoint("b", b, "max-connections: unlimited").replace(", max-connections: unlimited", ""),
                    endpoint("a", a)));

            assertEquals(Result.UNCHANGED, result.result());
            assertEquals(1, result.generation());
            assertEquals(List.of(), lines(result));
            assertEquals(1, proxy.proxy().reloads().of(Result.UNCHANGED));
        }
    }

    @OnEachTransport
    void whatNeedsARestartIsToldAndTheRestApplied(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        String process = """
                process: {workers: 7, max-connections: 99, shutdown: {deadline: 3s}}
                admin: {listen: "127.0.0.1:1"}
                log: {access: {path: none}}
                """;
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)))) {
            ReloadResult applied = proxy.reload(process + yaml(port, endpoint("a", a, "weight: 2")));
            ReloadResult again = proxy.reload(process + yaml(port, endpoint("a", a, "weight: 2")));

            assertEquals(Result.APPLIED, applied.result());
            assertEquals(
                    List.of(
                            "change process.workers from auto to 7, at the next start",
                            "change process.max-connections from auto to 99, at the next start",
                            "change process.shutdown.deadline from 5m to 3s",
                            "change process.shutdown.spread from 10s to 1500ms",
                            "change admin.listen from default to 127.0.0.1:1, at the next start",
                            "change log.access.path from stdout to none, at the next start",
                            "change backends.back.endpoints.a.weight from 1 to 2"),
                    lines(applied));
            assertEquals(Result.UNCHANGED, again.result());
            assertEquals(4, again.diff().atRestart().size());
            assertEquals(2, proxy.proxy().snapshot().generation());
            assertEquals(
                    Duration.ofSeconds(3),
                    proxy.proxy().config().process().shutdown().deadline());
            assertTrue(proxy.proxy().config().process().workers().isEmpty());
        }
    }

    @OnEachTransport
    void reloadsAskedForAtOnceAreCarriedOutOneAfterTheOther(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            List<CompletableFuture<ReloadResult>> all = new ArrayList<>();
            for (int weight = 2; weight < 12; weight++) {
                all.add(proxy.proxy().reload(ReloadFixture.config(yaml(port, endpoint("a", a, "weight: " + weight)))));
            }
            List<Long> generations = new ArrayList<>();
            for (CompletableFuture<ReloadResult> one : all) {
                generations.add(one.get(30, TimeUnit.SECONDS).generation());
            }
            assertEquals(List.of(2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L), generations);
            assertEquals(
                    11,
                    proxy.proxy().snapshot().backends().get(0).endpoints().at(0).weight());
            assertEchoes(client);
        }
    }

    @OnEachTransport
    void aStoppingProxyRefuses(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, endpoint("a", a)));
                ScriptedClient client = connectTo(port, "a")) {
            proxy.proxy().stopGracefully();
            ReloadResult stopping = proxy.reload(yaml(port, endpoint("a", a, "weight: 2")));
            proxy.proxy().close();
            ReloadResult stopped = proxy.reload(yaml(port, endpoint("a", a, "weight: 2")));

            assertEquals("the process is stopping", stopping.reason());
            assertEquals(Result.REJECTED, stopped.result());
            assertEquals(End.Kind.RST, client.readToEnd().kind());
            assertEquals(
                    "front",
                    proxy.records().stream().map(record -> record.frontend).collect(Collectors.joining()));
        }
    }
}
