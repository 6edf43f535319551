package dev.tidegate.proxy;

import static dev.tidegate.proxy.OperatorFixture.endpoint;
import static dev.tidegate.proxy.ReloadFixture.assertEchoes;
import static dev.tidegate.proxy.ReloadFixture.connectTo;
import static dev.tidegate.proxy.ReloadFixture.named;
import static dev.tidegate.proxy.ReloadFixture.yaml;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.telemetry.ReloadCounts.Result;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;

/** What operators do and what the file says meet in one process. */
class OperatorAndReloadTest {
    /** Keys of the frontend that differ, so that a reload has something to apply. */
    private static String other(String yaml, int minutes) {
        return yaml.replace("backend: back}]", "backend: back, timeouts: {idle: " + minutes + "m}}]");
    }

    /** haproxy/haproxy#2085: after a reload, servers that had been taken out of service got connections again. */
    @EachTransport
    @Tag("slow")
    void whatOperatorsTookOutStaysOutOverReloadsAndItsDrainGoesOn(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var c = named("c")) {
            String yaml = yaml(
                    port,
                    ReloadFixture.endpoint("a", a),
                    ReloadFixture.endpoint("b", b),
                    ReloadFixture.endpoint("c", c));
            try (var proxy = ReloadFixture.start(transport, yaml);
                    var onA = connectTo(port, "a")) {
                OperatorFixture operator = new OperatorFixture(proxy.proxy());
                OperationView drain =
                        operator.drain(endpoint("a"), Duration.ofMinutes(30), Duration.ofMinutes(9), DrainMode.WAIT);
                operator.done(new Command.Disable(endpoint("b")));

                assertEquals(Result.UNCHANGED, proxy.reload(yaml).result());
                for (int i = 0; i < 20; i++) {
                    assertEquals(
                            Result.APPLIED, proxy.reload(other(yaml, 90 + i)).result());
                    for (int j = 0; j < 4; j++) {
                        connectTo(port, "c").close();
                    }
                }

                assertEquals("draining", operator.endpointNow("a").state());
                assertEquals("disabled", operator.endpointNow("b").state());
                assertEquals("running", operator.look(drain.id()).state());
                assertEquals(1, operator.look(drain.id()).remaining());
                assertEchoes(onA);
                proxy.pass(Duration.ofMinutes(30));
                assertTrue(onA.readToEnd().kind() != End.Kind.TIMEOUT, "its deadline is forgotten");
                onA.channel().close();
                assertEquals("done", operator.await(drain.id(), "done").state());
                Await.until(
                        "it has its record",
                        () -> proxy.records().stream()
                                .anyMatch(record -> record.reason == CloseReason.DRAIN && record.endpoint.equals("a")));
            }
        }
    }

    /** haproxy/haproxy#2506: what had been changed at run time won over an address that was new in the file. */
    @EachTransport
    void whatOperatorsChangedIsAboutAnAddressAndNotAboutAName(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var c = named("c");
                var proxy = ReloadFixture.start(
                        transport, yaml(port, ReloadFixture.endpoint("one", a), ReloadFixture.endpoint("two", b)))) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            operator.drain(endpoint("one"));
            operator.done(new Command.SetWeight(endpoint("one"), 7));

            // The name is another host's now, and the host has another name.
            proxy.reload(yaml(port, ReloadFixture.endpoint("one", c), ReloadFixture.endpoint("old", a)));

            EndpointView one = operator.endpointNow("one");
            assertEquals(c.hostPort(), one.address());
            assertEquals("ready", one.state());
            assertEquals(1, one.weight().effective());
            assertEquals("draining", operator.endpointNow("old").state());
            assertEquals(7, operator.endpointNow("old").weight().effective());
            for (int i = 0; i < 4; i++) {
                connectTo(port, "c").close();
            }

            // Gone from the file and back in it, it is as the file has it.
            proxy.reload(yaml(port, ReloadFixture.endpoint("one", c)));
            proxy.reload(yaml(port, ReloadFixture.endpoint("one", a)));
            assertEquals("ready", operator.endpointNow("one").state());
            connectTo(port, "a").close();
        }
    }

    /** haproxytech/dataplaneapi#157: writes were accepted that failed later, and more were piled upon them. */
    @EachTransport
    void ofWritesForOneGenerationOneIsDoneAndARefusedReloadIsNotBuiltUpon(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(transport, yaml(port, ReloadFixture.endpoint("a", a)))) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            List<CompletableFuture<Outcome>> writes = new ArrayList<>();
            for (int weight = 2; weight < 10; weight++) {
                writes.add(proxy.proxy()
                        .execute(
                                new Command.SetWeight(endpoint("a"), weight),
                                new WriteContext("test", OptionalLong.of(1), false)));
            }
            int done = 0;
            for (CompletableFuture<Outcome> write : writes) {
                Outcome outcome = write.get(10, TimeUnit.SECONDS);
                if (outcome instanceof Outcome.Done) {
                    done++;
                } else {
                    assertEquals(
                            Outcome.Why.STALE,
                            assertInstanceOf(Outcome.Refused.class, outcome).why());
                }
            }
            assertEquals(1, done);
            assertEquals(2, proxy.proxy().snapshot().generation());
            int weight = operator.endpointNow("a").weight().effective();

            try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                var refused = proxy.reload(yaml(busy.getLocalPort(), ReloadFixture.endpoint("a", a, "weight: 5")));
                assertEquals(Result.REJECTED, refused.result());
            }
            assertEquals(weight, operator.endpointNow("a").weight().effective());
            operator.execute(new Command.Disable(endpoint("a")), new WriteContext("test", OptionalLong.of(2), false));
            operator.done(new Command.Enable(endpoint("a")));
            assertEquals(4, proxy.proxy().snapshot().generation());
            connectTo(port, "a").close();

            assertEquals(
                    Result.APPLIED,
                    proxy.reload(yaml(port, ReloadFixture.endpoint("a", a, "weight: 3")))
                            .result());
            assertEquals(3, operator.endpointNow("a").weight().effective());
        }
    }

    /** MeetMe/newrelic-plugin-agent#294: what had been counted began again at 0 with each reload. */
    @EachTransport
    void openConnectionsKeepTheirAgeAndBytes(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a")) {
            String yaml = yaml(port, ReloadFixture.endpoint("a", a));
            try (var proxy = ReloadFixture.start(transport, yaml);
                    var client = connectTo(port, "a")) {
                OperatorFixture operator = new OperatorFixture(proxy.proxy());
                assertEchoes(client);
                proxy.pass(Duration.ofMinutes(40));
                ConnectionView before = only(operator.connections());
                for (int i = 0; i < 5; i++) {
                    assertEquals(
                            Result.APPLIED, proxy.reload(other(yaml, 70 + i)).result());
                }
                ConnectionView after = only(operator.connections());

                assertEquals(before.id(), after.id());
                assertTrue(after.ageMs() >= before.ageMs() && before.ageMs() >= 2_400_000, after::toString);
                assertTrue(after.idleMs() >= 2_400_000, after::toString);
                assertEquals(4, after.bytesReceived());
                assertEquals(5, after.bytesSent());
                assertEquals(1, after.generation());
                assertEchoes(client);
            }
        }
    }

    private static ConnectionView only(List<ConnectionView> connections) {
        assertEquals(1, connections.size(), connections::toString);
        return connections.get(0);
    }
}
