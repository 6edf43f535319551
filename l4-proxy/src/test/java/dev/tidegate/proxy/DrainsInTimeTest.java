package dev.tidegate.proxy;

import static dev.tidegate.proxy.OperatorFixture.endpoint;
import static dev.tidegate.proxy.ReloadFixture.assertEchoes;
import static dev.tidegate.proxy.ReloadFixture.connect;
import static dev.tidegate.proxy.ReloadFixture.connectTo;
import static dev.tidegate.proxy.ReloadFixture.named;
import static dev.tidegate.proxy.ReloadFixture.yaml;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Command.RemovePolicy;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** Minutes of drains, without waiting for them. */
class DrainsInTimeTest {
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final Duration SPREAD = Duration.ofSeconds(2);

    /** So many on each of those endpoints. */
    private static Map<String, List<ScriptedClient>> clients(int port, int each, String... names) throws IOException {
        Map<String, List<ScriptedClient>> clients = new HashMap<>();
        for (int i = 0; i < each; i++) {
            for (String name : names) {
                clients.computeIfAbsent(name, missing -> new ArrayList<>()).add(connectTo(port, name));
            }
        }
        return clients;
    }

    private static void closeAll(Map<String, List<ScriptedClient>> clients) {
        clients.values().forEach(list -> list.forEach(ScriptedClient::close));
    }

    private static void assertAllEcho(List<ScriptedClient> clients) throws IOException {
        for (ScriptedClient client : clients) {
            assertEchoes(client);
        }
    }

    private static void assertAllEnd(List<ScriptedClient> clients) throws IOException {
        for (ScriptedClient client : clients) {
            assertFalse(client.readToEnd().kind() == End.Kind.TIMEOUT, "still open");
            client.close();
        }
    }

    /** kubernetes/ingress-nginx#9516: with each change it took longer until connections were closed. */
    @EachTransport
    void drainsThatWereTakenBackCloseNothingAndDoNotPutOffTheNext(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(
                        transport, yaml(port, ReloadFixture.endpoint("a", a), ReloadFixture.endpoint("b", b)))) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Map<String, List<ScriptedClient>> clients = clients(port, 4, "a", "b");
            try {
                for (int i = 0; i < 5; i++) {
                    operator.drain(endpoint("a"), DEADLINE, SPREAD, DrainMode.WAIT);
                    operator.drain(endpoint("b"), DEADLINE, SPREAD, DrainMode.WAIT);
                    proxy.pass(DEADLINE.dividedBy(2));
                    operator.undrain(endpoint("a"));
                    operator.undrain(endpoint("b"));
                }
                operator.drain(endpoint("a"), DEADLINE, SPREAD, DrainMode.WAIT);
                // The earliest is due 8 s after the call.
                proxy.pass(Duration.ofSeconds(7));
                assertAllEcho(clients.get("a"));
                proxy.pass(Duration.ofSeconds(3));
                assertAllEnd(clients.get("a"));

                proxy.pass(Duration.ofSeconds(30));
                assertAllEcho(clients.get("b"));
                proxy.awaitRecord(3);
                proxy.records().forEach(record -> {
                    assertEquals(CloseReason.DRAIN, record.reason);
                    assertEquals("a", record.endpoint);
                });
                assertEquals(4, proxy.records().size());
            } finally {
                closeAll(clients);
            }
        }
    }

    /** Netflix/zuul#1497: going out of service closed connections that could have ended by themselves. */
    @EachTransport
    @Tag("slow")
    void aDrainWithoutADeadlineEndsNobodyHoweverLongItTakes(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(
                        transport, yaml(port, ReloadFixture.endpoint("a", a), ReloadFixture.endpoint("b", b)))) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Map<String, List<ScriptedClient>> clients = clients(port, 2, "a", "b");
            try {
                OperationView drain = operator.drain(endpoint("a"));
                // What has a deadline shows that time does pass.
                operator.drain(endpoint("b"), Duration.ofMinutes(5), SPREAD, DrainMode.GRACEFUL);
                ScriptedClient busy = clients.get("a").get(0);
                for (int minute = 0; minute < 6; minute++) {
                    assertEchoes(busy);
                    proxy.pass(Duration.ofMinutes(1));
                }
                assertAllEnd(clients.get("b"));

                assertAllEcho(clients.get("a")); // one of them silent until now
                assertEquals(2, operator.look(drain.id()).remaining());
                closeAll(clients);
                OperationView done = operator.await(drain.id(), "done");
                assertEquals(0, done.retired());
                assertEquals(0, done.cut());
            } finally {
                closeAll(clients);
            }
        }
    }

    /** cilium/cilium#14844: taking an endpoint away broke what was under way to it. */
    @EachTransport
    @Tag("slow")
    void transfersThatAreUnderWayWhenTheirEndpointIsRemovedComeToTheirEnd(Wish transport) throws Exception {
        int port = ReloadFixture.port();
        int count = 20;
        long bytes = 8L * 1024 * 1024;
        List<ScriptedClient> clients = new ArrayList<>();
        List<ScriptedClient> quiet = new ArrayList<>();
        try (var a = ScriptedBackend.start(Scripts.sendThenFin(5, bytes));
                var b = named("b");
                var c = named("c");
                var proxy = ReloadFixture.start(
                        transport,
                        yaml(
                                port,
                                ReloadFixture.endpoint("a", a),
                                ReloadFixture.endpoint("b", b, "weight: 0"),
                                ReloadFixture.endpoint("c", c, "weight: 0")))) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            try {
                for (int i = 0; i < count; i++) {
                    clients.add(connect(port));
                    clients.get(i).skip(100_000);
                }
                operator.done(new Command.SetWeight(endpoint("a"), 0));
                operator.done(new Command.SetWeight(endpoint("c"), 1));
                for (int i = 0; i < 6; i++) {
                    quiet.add(connectTo(port, "c"));
                }
                operator.done(new Command.SetWeight(endpoint("b"), 1));
                operator.started(new Command.RemoveEndpoint(endpoint("c"), RemovePolicy.DRAIN));
                OperationView removal = operator.started(new Command.RemoveEndpoint(endpoint("a"), RemovePolicy.DRAIN));
                assertEquals(count, removal.total());
                for (int i = 0; i < 10; i++) {
                    connectTo(port, "b").close();
                }
                // Nobody keeps up, so that each is in the midst of it: bytes wait where the balancer would read them.
                Await.equal(
                        "transfers that stand still",
                        (long) count,
                        () -> Sockets.all().stream()
                                .filter(Sockets.towards(a.address()))
                                .filter(entry -> entry.receiveQueueBytes() > 0)
                                .count());
                // From here on they may be ended, at a moment that hurts nobody; in 5 min they must.
                proxy.pass(Duration.ofMinutes(2));
                assertAllEnd(quiet); // which shows that all workers have seen the time

                String whole = SeededStream.sha256(5, bytes);
                for (ScriptedClient client : clients) {
                    assertEquals(End.Kind.FIN, client.readToEnd().kind());
                    assertEquals(bytes, client.bytesReceived());
                    assertEquals(whole, client.sha256());
                    client.close();
                }
                assertEquals(0, operator.await(removal.id(), "done").cut());
                assertEquals(count, a.connections().size());
            } finally {
                clients.forEach(ScriptedClient::close);
                quiet.forEach(ScriptedClient::close);
            }
        }
    }
}
