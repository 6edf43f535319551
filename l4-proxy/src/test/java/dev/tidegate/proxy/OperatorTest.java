package dev.tidegate.proxy;

import static dev.tidegate.proxy.OperatorFixture.endpoint;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.CloseMode;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Command.RemovePolicy;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.control.EndpointId;
import dev.tidegate.control.RuntimeState;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.BornRetiring;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an operator does to a running proxy, and what becomes of its connections. */
class OperatorTest {
    private static final Duration NOW = Duration.ZERO;

    /** cilium/cilium#27096: an endpoint that was going away was still picked. */
    @ParameterizedTest
    @ValueSource(strings = {"round-robin", "random", "least-connections", "power-of-two"})
    void aDrainedEndpointGetsNoNewPickInAnyBalanceMode(String balance) throws Exception {
        try (var a = ScriptedBackend.echo();
                var b = ScriptedBackend.echo();
                var proxy = twoEndpoints(Wish.EPOLL, a, b, balance).workers(2).start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            operator.drain(endpoint("a"));

            for (int i = 0; i < 40; i++) {
                echoOnce(proxy);
            }
            assertEquals(0, a.connections().size());
            assertEquals(40, b.connections().size());

            operator.undrain(endpoint("a"));
            Await.until("a is picked again", () -> {
                echoOnce(proxy);
                return a.connections().size() > 0;
            });
        }
    }

    @EachTransport
    @Tag("slow")
    void aDrainThatWaitsEndsNothingAndIsDoneWhenTheLastHasLeft(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var b = ScriptedBackend.echo();
                var proxy = twoEndpoints(transport, a, b, "round-robin").start();
                var first = proxy.connect()) {
            echo(first);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            OperationView drain = operator.drain(endpoint("a"));

            assertEquals("drain", drain.kind());
            assertEquals("wait", drain.mode());
            assertEquals("running", drain.state());
            assertEquals(1, drain.total());
            assertEquals(1, drain.remaining());
            assertNull(drain.deadline());
            assertTrue(operator.look(drain.id()).oldestAgeMs() >= 0);
            echo(first);

            first.shutdownOutput();
            first.readToEnd();
            OperationView done = operator.await(drain.id(), "done");
            assertEquals(0, done.remaining());
            assertEquals(0, done.retired());
            assertEquals(0, done.cut());
        }
    }

    @EachTransport
    @Tag("slow")
    void aGracefulDrainEndsWhatIsQuietAndCutsWhatIsNot(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start();
                var quiet = proxy.connect();
                var owed = proxy.connect()) {
            echo(quiet);
            echo(owed);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            long begin = System.nanoTime();
            OperationView drain = operator.drain(endpoint("a"), Duration.ofSeconds(1), NOW, DrainMode.GRACEFUL);
            assertEquals(2, drain.total());
            // It talks on and on: no moment is quiet.
            PeerTalk.untilGone(owed);
            long millis = (System.nanoTime() - begin) / 1_000_000;

            assertEquals(End.Kind.FIN, quiet.readToEnd().kind());
            quiet.shutdownOutput();
            assertTrue(millis >= 950, "cut after " + millis + " ms");
            OperationView done = operator.await(drain.id(), "done");
            assertEquals(1, done.retired());
            assertEquals(1, done.cut());
            Await.until("both are logged", () -> proxy.records().size() == 2);
            proxy.records().forEach(record -> assertEquals(CloseReason.DRAIN, record.reason));
            assertEquals(1, proxy.sum(row -> row.retired(CloseReason.DRAIN, RetireHow.QUIET)));
            assertEquals(1, proxy.sum(row -> row.retired(CloseReason.DRAIN, RetireHow.CUT)));
        }
    }

    /** kubernetes/ingress-nginx#9516: timers of earlier changes still counted. */
    @EachTransport
    @Tag("slow")
    void afterAnUndrainNoTimerOfTheDrainClosesAnything(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start();
                var client = proxy.connect()) {
            echo(client);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Duration deadline = Duration.ofMillis(200);
            OperationView drain = operator.drain(endpoint("a"), deadline, Duration.ofMillis(150), DrainMode.GRACEFUL);
            operator.undrain(endpoint("a"));
            assertEquals("cancelled", operator.look(drain.id()).state());

            long begin = System.nanoTime();
            while (System.nanoTime() - begin < 2 * deadline.toNanos()) {
                echo(client);
            }
            assertEquals(1, proxy.active());
            assertEquals(0, operator.look(drain.id()).cut());
            client.shutdownOutput();
            client.readToEnd();
            assertEquals(CloseReason.CLIENT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    @EachTransport
    void aFrontendThatIsDrainedRefusesAndListensAgainAfterwards(Wish transport) throws Exception {
        int port = FreePort.pick();
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .listen("127.0.0.1:" + port)
                        .start();
                var client = proxy.connect()) {
            echo(client);
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Target front = new Target.OfFrontend("front");
            OperationView drain = operator.drain(front, null, NOW, DrainMode.WAIT);

            // On nio the kernel's socket goes with the selector's next turn.
            Await.until("it refuses", () -> refuses(address));
            echo(client);
            operator.undrain(front);
            try (var again = ScriptedClient.connect(address)) {
                echo(again);
            }
            assertEquals("cancelled", operator.look(drain.id()).state());
        }
    }

    private static boolean refuses(InetSocketAddress address) {
        try {
            ScriptedClient.connect(address).close();
            return false;
        } catch (ConnectException refused) {
            return true;
        } catch (IOException accepted) {
            return false;
        }
    }

    @EachTransport
    void whileTheProcessIsDrainedNewConnectionsAreServedAndBornRetiring(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            OperationView drain = operator.drain(new Target.Process(), Duration.ofMinutes(10), NOW, DrainMode.GRACEFUL);
            assertTrue(proxy.proxy().drained());

            try (var client = proxy.connect()) {
                echo(client);
                Await.until("it is covered", () -> look(operator, drain).remaining() == 1);
                operator.undrain(new Target.Process());
                assertFalse(proxy.proxy().drained());
                echo(client);
            }
            assertEquals(CloseReason.CLIENT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    @EachTransport
    @Tag("slow")
    void oneWhoIsDialingADrainedEndpointStaysWhenItComesToAnother(Wish transport) throws Exception {
        try (var full = ScriptedBackend.blackHole();
                var b = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + full.hostPort() + "\", weight: 1000}")
                        .endpoint("{name: b, address: \"" + b.hostPort() + "\", weight: 0}")
                        .connect("{timeout: 1s, attempts: 3, deadline: 10s}")
                        .start();
                var client = proxy.connect()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Await.until("it is dialed", () -> proxy.cell(0).inFlight() == 1);
            operator.done(new Command.SetWeight(endpoint("b"), 1));
            // The dial follows the snapshot before: only the next one may come to b.
            OperationView drain = operator.drain(endpoint("a"), Duration.ofMinutes(1), NOW, DrainMode.GRACEFUL);
            assertEquals(1, drain.remaining());

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            assertEquals(0, operator.await(drain.id(), "done").remaining());
            try (var next = proxy.connect()) {
                echo(next);
                assertEquals(1, b.connections().size());
            }
        }
    }

    @EachTransport
    void disabledWeightAndRemovedHoldAtOnceAndAreTakenBack(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var b = ScriptedBackend.echo();
                var proxy = twoEndpoints(transport, a, b, "round-robin").start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());

            EndpointView disabled = view(operator.done(new Command.Disable(endpoint("a"))));
            assertEquals("disabled", disabled.state());
            assertFalse(disabled.pickable());
            assertOnly(proxy, b);
            assertEquals(
                    "ready",
                    view(operator.done(new Command.Enable(endpoint("a")))).state());

            EndpointView weightless = view(operator.done(new Command.SetWeight(endpoint("b"), 0)));
            assertEquals(1, weightless.weight().configured());
            assertEquals(0, weightless.weight().runtime());
            assertEquals(0, weightless.weight().effective());
            assertOnly(proxy, a);
            assertNull(view(operator.done(new Command.ResetWeight(endpoint("b"))))
                    .weight()
                    .runtime());

            operator.done(new Command.RemoveEndpoint(endpoint("a"), RemovePolicy.KEEP));
            assertOnly(proxy, b);
            EndpointView back = view(operator.done(
                    new Command.AddEndpoint("back", "a", a.hostPort(), OptionalInt.empty(), OptionalInt.empty())));
            assertEquals("config", back.source());
            Await.until("a is picked again", () -> {
                int before = a.connections().size();
                echoOnce(proxy);
                return a.connections().size() > before;
            });
        }
    }

    @Test
    void whileTheOnlyEndpointIsDrainedTheFrontendIsNotReadyAndUndrainedItServesAtOnce() throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(Wish.EPOLL)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            String frontend = proxy.proxy().snapshot().frontends().get(0).name();
            assertTrue(operator.ready(frontend));

            operator.drain(endpoint("a"));
            assertFalse(operator.ready(frontend));

            operator.undrain(endpoint("a"));
            assertTrue(operator.ready(frontend));
            echoOnce(proxy);
        }
    }

    /** It was accepted, and down for ever. */
    @Test
    void anEndpointThatChecksCannotReachFromTheirSourceIsRefused() throws Exception {
        int port = ReloadFixture.port();
        String yaml = ReloadFixture.yaml(port, "{name: a, address: \"127.0.0.1:1\"}");
        try (var proxy = ReloadFixture.start(
                Wish.EPOLL, yaml.replace("endpoints:", "health: {type: tcp, source: 127.0.0.1}, endpoints:"))) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Command six = new Command.AddEndpoint("back", "v6", "[::1]:80", OptionalInt.empty(), OptionalInt.empty());
            long generation = proxy.proxy().snapshot().generation();

            Outcome.Refused refused = operator.refused(six);

            assertEquals(Outcome.Why.INVALID, refused.why());
            assertEquals("address", refused.problems().get(0).path());
            assertTrue(
                    refused.detail().contains("source 127.0.0.1 cannot reach [::1]:80, which is IPv6"),
                    refused::detail);
            assertInstanceOf(Outcome.Refused.class, operator.tryOut(six));
            assertEquals(generation, proxy.proxy().snapshot().generation());
            // Where one is asked in the place of all, that is not in the way.
            proxy.reload(yaml.replace(
                    "endpoints:", "health: {type: tcp, source: 127.0.0.1, address: 127.0.0.1}, endpoints:"));
            operator.done(six);
        }
    }

    /** caddyserver/caddy#6357: a weight of 0 was refused. All may have it. */
    @EachTransport
    void withAllWeightsAt0NobodyIsServedAndWhoIsThereStays(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var b = ScriptedBackend.echo();
                var proxy = twoEndpoints(transport, a, b, "power-of-two").start();
                var client = proxy.connect()) {
            echo(client);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            for (int weight : new int[] {-1, 1_001, Integer.MAX_VALUE}) {
                assertEquals(
                        Outcome.Why.INVALID,
                        operator.refused(new Command.SetWeight(endpoint("a"), weight))
                                .why());
            }
            operator.done(new Command.SetWeight(endpoint("a"), 0));
            operator.done(new Command.SetWeight(endpoint("b"), 0));

            assertThrows(PeerGoneException.class, () -> {
                try (ScriptedClient refused = proxy.connect()) {
                    refused.readText(1);
                }
            });
            assertEquals(CloseReason.NO_ENDPOINT, proxy.awaitOnlyRecord().reason);
            echo(client);
            operator.done(new Command.SetWeight(endpoint("b"), 1_000));
            assertOnly(proxy, b);
        }
    }

    @EachTransport
    @Tag("slow")
    void anAddedEndpointIsPickedAndCanBeRemovedWithACut(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = ScriptedBackend.echo();
                var c = ScriptedBackend.echo();
                var proxy = ReloadFixture.start(
                        transport, ReloadFixture.yaml(port, ReloadFixture.endpoint("a", a, "weight: 0")))) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Command add = new Command.AddEndpoint("back", "c", c.hostPort(), OptionalInt.of(5), OptionalInt.of(10));
            long generation = proxy.proxy().snapshot().generation();
            assertInstanceOf(Outcome.Compared.class, operator.tryOut(add));
            assertEquals(generation, proxy.proxy().snapshot().generation());

            EndpointView added = view(operator.done(add));
            assertEquals("runtime", added.source());
            assertEquals(5, added.weight().effective());
            assertEquals(10, added.maxConnections());
            assertEquals(generation + 1, proxy.proxy().snapshot().generation());
            assertEquals(Outcome.Why.CONFLICT, operator.refused(add).why());

            try (var client = ReloadFixture.connect(port)) {
                client.send("an answer");
                client.readText(9);
                assertEquals(1, c.connections().size());
                client.send("owed");
                OperationView removal = operator.started(new Command.RemoveEndpoint(endpoint("c"), RemovePolicy.CUT));
                assertEquals("remove", removal.kind());
                proxy.pass(Duration.ofSeconds(10)); // over which cuts are spread
                PeerTalk.untilGone(client);
                assertEquals(CloseReason.ENDPOINT_REMOVED, proxy.awaitRecord(0).reason);
            }
        }
    }

    /** It was told to be done, as if its connections had left. */
    @EachTransport
    void aRemovalThatIsUndoneIsCancelledAndTellsHowManyStay(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var b = ScriptedBackend.echo();
                var proxy = twoEndpoints(transport, a, b, "round-robin").start();
                var first = proxy.connect();
                var second = proxy.connect()) {
            echo(first);
            echo(second);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            OperationView removal = operator.started(new Command.RemoveEndpoint(endpoint("a"), RemovePolicy.DRAIN));
            assertEquals("running", operator.look(removal.id()).state());

            operator.done(new Command.AddEndpoint("back", "a", a.hostPort(), OptionalInt.empty(), OptionalInt.empty()));

            OperationView undone = operator.look(removal.id());
            assertEquals("cancelled", undone.state());
            assertEquals(1, undone.total());
            assertEquals(1, undone.remaining());
            assertEquals(0, undone.retired());
            assertTrue(proxy.proxy().events().recent(10).stream()
                    .anyMatch(event -> event.type().equals("operation-cancelled")));
            echo(first);
            echo(second);
        }
    }

    /** However late its start was drawn: a pause of its talk must not look like its end. */
    @EachTransport
    @Tag("slow")
    void whoeverTalksIsCutAtTheHardLimitAndNotEndedByAFin(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start();
                var client = proxy.connect()) {
            echo(client);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            OperationView drain = operator.drain(endpoint("a"), null, Duration.ofMillis(300), DrainMode.CUT);
            PeerTalk.untilGone(client);

            assertEquals(1, operator.await(drain.id(), "done").cut());
            assertEquals(RetireHow.CUT, proxy.awaitOnlyRecord().how);
        }
    }

    @EachTransport
    void oneConnectionIsClosedByItsId(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport).endpoint(a).start();
                var client = proxy.connect()) {
            echo(client);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());

            assertEquals(
                    Outcome.Why.NOT_FOUND,
                    operator.refused(new Command.CloseConnection("0-99", CloseMode.ABORT))
                            .why());
            assertEquals(
                    Outcome.Why.NOT_FOUND,
                    operator.refused(new Command.CloseConnection("none", CloseMode.ABORT))
                            .why());
            operator.done(new Command.CloseConnection("0-1", CloseMode.ABORT));

            assertEquals(End.Kind.RST, client.readToEnd().kind());
            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.KILLED, record.reason);
            assertEquals(RetireHow.CUT, record.how);
        }
    }

    @Test
    @Tag("slow")
    void whoComesWhileTheProcessIsDrainedHasTheGraceOfItsFrontend() throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(Wish.EPOLL)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .frontend("lifetime: {grace: 7s}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            operator.drain(new Target.Process(), Duration.ofMillis(1), NOW, DrainMode.GRACEFUL);

            BornRetiring born = proxy.frontend().cell().bornRetiring();
            assertEquals(Duration.ofSeconds(7).toNanos(), born.graceNanos());
            long late = born.deadlineNanos() + Duration.ofHours(1).toNanos();
            assertEquals(late + Duration.ofSeconds(7).toNanos(), born.hardNanos(late));
            operator.undrain(new Target.Process());
        }
    }

    @EachTransport
    @Tag("slow")
    void aRebalanceRetiresWhatIsAboveTheFairShareAndNoMore(Wish transport) throws Exception {
        List<ScriptedClient> clients = new ArrayList<>();
        try (var a = ScriptedBackend.echo();
                var b = ScriptedBackend.echo();
                var proxy = twoEndpoints(transport, a, b, "least-connections").start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            operator.done(new Command.Disable(endpoint("b")));
            for (int i = 0; i < 10; i++) {
                clients.add(proxy.connect());
                echo(clients.get(i));
            }
            operator.done(new Command.Enable(endpoint("b")));
            OperationView rebalance =
                    operator.started(new Command.Rebalance("back", Optional.of(Duration.ofMillis(10))));

            assertEquals(5, rebalance.total());
            operator.undrain(new Target.OfBackend("back")); // nothing to undrain, nothing happens
            clients.forEach(ScriptedClient::close);
            operator.await(rebalance.id(), "done");
        } finally {
            clients.forEach(ScriptedClient::close);
        }
    }

    @EachTransport
    void aWriteForAnotherGenerationIsRefusedAndADryRunChangesNothing(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Command disable = new Command.Disable(endpoint("a"));
            Outcome stale = operator.execute(disable, new WriteContext("test", OptionalLong.of(7), false));
            assertEquals(
                    Outcome.Why.STALE,
                    assertInstanceOf(Outcome.Refused.class, stale).why());

            Outcome.Compared dry = assertInstanceOf(Outcome.Compared.class, operator.tryOut(disable));
            assertEquals(
                    "backends.back.endpoints.a.state",
                    dry.diff().changes().get(0).path());
            assertEquals("ready", dry.diff().changes().get(0).from());
            assertEquals("disabled", dry.diff().changes().get(0).to());
            assertTrue(proxy.cell(0).open());
            assertEquals(1, proxy.proxy().snapshot().generation());

            assertInstanceOf(
                    Outcome.Done.class, operator.execute(disable, new WriteContext("test", OptionalLong.of(1), false)));
            assertEquals(2, proxy.proxy().snapshot().generation());
            // A second time it is so already, and no new generation.
            assertEquals(List.of(), operator.done(disable).changes());
            assertEquals(2, proxy.proxy().snapshot().generation());
            assertEquals(
                    Outcome.Why.NOT_FOUND,
                    operator.refused(new Command.Disable(endpoint("nope"))).why());
            assertEquals(
                    Outcome.Why.INVALID,
                    operator.refused(new Command.Drain(
                                    endpoint("a"),
                                    Optional.of(Duration.ofSeconds(1)),
                                    Optional.of(Duration.ofSeconds(2)),
                                    Optional.empty()))
                            .why());
        }
    }

    /** They said "disabled -> ready" of one that is still draining, and "draining -> ready" while its backend drains. */
    @Test
    void aChangeTellsAllThatOperatorsHaveSaidOfTheEndpointBeforeAndAfter() throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(Wish.NIO)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            operator.done(new Command.Disable(endpoint("a")));
            assertEquals("disabled -> disabled; draining", wouldChange(operator, drain(endpoint("a"))));
            operator.execute(drain(endpoint("a")));
            assertEquals("disabled; draining -> draining", wouldChange(operator, new Command.Enable(endpoint("a"))));
            operator.done(new Command.Enable(endpoint("a")));
            operator.execute(drain(new Target.OfBackend("back")));
            assertEquals(
                    "draining; backend draining -> backend draining",
                    wouldChange(operator, new Command.Undrain(endpoint("a"))));
            operator.undrain(endpoint("a"));
            assertEquals("draining -> ready", wouldChange(operator, new Command.Undrain(new Target.OfBackend("back"))));
        }
    }

    private static Command drain(Target target) {
        return new Command.Drain(target, Optional.empty(), Optional.empty(), Optional.empty());
    }

    private static String wouldChange(OperatorFixture operator, Command command) throws Exception {
        var changes = assertInstanceOf(Outcome.Compared.class, operator.tryOut(command))
                .diff()
                .changes();
        assertEquals(1, changes.size(), changes.toString());
        return changes.get(0).from() + " -> " + changes.get(0).to();
    }

    @EachTransport
    void whatWasChangedBeforeARestartIsStillSoAfterIt(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var b = ScriptedBackend.echo();
                var proxy = twoEndpoints(transport, a, b, "round-robin")
                        .runtime(RuntimeState.EMPTY
                                .withDraining(new EndpointId("back", a.hostPort()), true)
                                .withWeight(new EndpointId("back", b.hostPort()), 7, 1))
                        .start()) {
            assertOnly(proxy, b);
            assertEquals(7, proxy.frontend().backend().endpoints().at(1).weight());
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            operator.undrain(endpoint("a"));
            Await.until("a is picked again", () -> {
                echoOnce(proxy);
                return a.connections().size() > 0;
            });
        }
    }

    @EachTransport
    void aTimeThatIsTooLongToCountIsRefusedAndLeavesNothingBehind(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Optional<Duration> tooLong = Optional.of(Duration.ofMillis(Long.MAX_VALUE / 1_000_000));
            Optional<Duration> none = Optional.empty();
            for (Command command : List.of(
                    new Command.Drain(endpoint("a"), tooLong, none, Optional.empty()),
                    new Command.Drain(endpoint("a"), none, tooLong, Optional.empty()),
                    new Command.Rebalance("back", tooLong))) {
                assertEquals(Outcome.Why.INVALID, operator.refused(command).why(), command::toString);
            }
            assertEquals(1, proxy.proxy().snapshot().generation());

            Optional<Duration> longest = Optional.of(Duration.ofDays(365));
            OperationView rebalance = operator.started(new Command.Rebalance("back", longest));
            assertEquals("done", operator.await(rebalance.id(), "done").state());
        }
    }

    @EachTransport
    void aDrainThatWasTakenBackTellsHowManyStay(Wish transport) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start();
                var leaves = proxy.connect();
                var stays = proxy.connect()) {
            echo(leaves);
            echo(stays);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            OperationView drain = operator.drain(endpoint("a"));
            leaves.shutdownOutput();
            leaves.readToEnd();
            Await.until("one has left", () -> proxy.active() == 1);
            operator.undrain(endpoint("a"));

            OperationView cancelled = operator.look(drain.id());
            assertEquals("cancelled", cancelled.state());
            assertEquals(2, cancelled.total());
            assertEquals(1, cancelled.remaining());
            stays.shutdownOutput();
            stays.readToEnd();
            assertEquals(1, operator.look(drain.id()).remaining());
        }
    }

    @EachTransport
    void aSilentConnectionThatIsOwedAnAnswerIsNotCutByADrainWithoutADeadline(Wish transport) throws Exception {
        try (var a = ScriptedBackend.start(Scripts.silent());
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start();
                var client = proxy.connect()) {
            proxy.abandonConnections(); // the endpoint keeps its side open
            client.send("a question");
            Await.until("it is relayed", () -> proxy.sum(row -> row.receivedBytes) == 10);
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            OperationView drain = operator.drain(endpoint("a"), null, NOW, DrainMode.GRACEFUL);
            assertNull(drain.deadline());
            assertNull(drain.etaMs());
            assertEquals(1, drain.remaining());
            operator.undrain(endpoint("a"));
            assertEquals("cancelled", operator.look(drain.id()).state());
        }
    }

    private static ProxyFixture.Setup twoEndpoints(
            Wish transport, ScriptedBackend a, ScriptedBackend b, String balance) {
        return ProxyFixture.on(transport)
                .balance(balance)
                .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                .endpoint("{name: b, address: \"" + b.hostPort() + "\"}");
    }

    private static EndpointView view(Outcome.Done done) {
        return assertInstanceOf(EndpointView.class, done.body());
    }

    private static OperationView look(OperatorFixture operator, OperationView operation) {
        try {
            return operator.look(operation.id());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Four connections in turn all come there. */
    private static void assertOnly(ProxyFixture proxy, ScriptedBackend only) {
        int before = only.connections().size();
        for (int i = 0; i < 4; i++) {
            echoOnce(proxy);
        }
        assertEquals(before + 4, only.connections().size());
    }

    private static void echoOnce(ProxyFixture proxy) {
        try (ScriptedClient client = proxy.connect()) {
            echo(client);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void echo(ScriptedClient client) throws IOException {
        client.send("ping");
        assertEquals("ping", client.readText(4));
    }
}
