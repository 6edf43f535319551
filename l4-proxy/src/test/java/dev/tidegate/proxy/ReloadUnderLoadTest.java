package dev.tidegate.proxy;

import static dev.tidegate.proxy.ReloadFixture.endpoint;
import static dev.tidegate.proxy.ReloadFixture.named;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.control.ReloadResult;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.telemetry.ReloadCounts.Result;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reloads while connections arrive without pause and others stay: nobody notices. libp2p/go-reuseport#6. */
@Tag("slow")
class ReloadUnderLoadTest {
    private static final int RELOADS = 50;
    private static final int LONG_ONES = 100;
    private static final int CLIENTS = 3;
    private static final int CONNECTIONS_A_RELOAD = 20;

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void fiftyReloadsHurtNoConnection(Wish transport) throws Exception {
        int one = ReloadFixture.port();
        int two = ReloadFixture.port();
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong served = new AtomicLong();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<ScriptedClient> longOnes = new ArrayList<>();
        List<Thread> clients = new ArrayList<>();
        try (var a = named("a");
                var b = named("b");
                var c = named("c")) {
            String stay = endpoint("a", a) + ", " + endpoint("b", b);
            try (var proxy = ReloadFixture.start(transport, yaml(0, one, two, stay))) {
                for (int i = 0; i < LONG_ONES; i++) {
                    ScriptedClient client = ReloadFixture.connect(i % 2 == 0 ? one : two);
                    client.readText(1);
                    longOnes.add(client);
                }
                for (int i = 0; i < CLIENTS; i++) {
                    int port = i % 2 == 0 ? one : two;
                    Thread client = new Thread(() -> arrive(port, over, served, failures), "arriving-" + i);
                    client.start();
                    clients.add(client);
                }
                for (int i = 1; i <= RELOADS && failures.isEmpty(); i++) {
                    String endpoints = i % 3 == 0
                            ? stay + ", " + endpoint("c", c)
                            : stay.replace("weight: 1", "weight: " + (1 + i % 4));
                    ReloadResult result = proxy.reload(yaml(i, one, two, endpoints));
                    assertEquals(Result.APPLIED, result.result(), result::reason);
                    long more = served.get() + CONNECTIONS_A_RELOAD;
                    Await.until(
                            "more are served",
                            Duration.ofSeconds(20),
                            () -> served.get() >= more || !failures.isEmpty());
                }
                over.set(true);
                for (Thread client : clients) {
                    client.join(20_000);
                }
                assertEquals(List.of(), List.copyOf(failures));
                for (ScriptedClient client : longOnes) {
                    ReloadFixture.assertEchoes(client);
                }
                assertEquals(
                        List.of(),
                        proxy.records().stream()
                                .filter(record -> record.reason != CloseReason.CLIENT_CLOSED)
                                .map(record -> record.reason)
                                .toList());
                longOnes.forEach(ScriptedClient::close);
            } finally {
                over.set(true);
                longOnes.forEach(ScriptedClient::close);
            }
        }
    }

    /** Frontends swap their ports with every second reload, and change policy and time-outs. */
    private static String yaml(int step, int one, int two, String endpoints) {
        boolean swapped = step / 2 % 2 == 1;
        return """
                frontends:
                  - {name: left, listen: "127.0.0.1:%d", backend: back, timeouts: {idle: %dm, unacked: %dm}}
                  - {name: right, listen: "127.0.0.1:%d", backend: back}
                backends:
                  - {name: back, balance: %s, endpoints: [%s]}
                """.formatted(
                        swapped ? two : one,
                        10 + step,
                        5 + step % 2,
                        swapped ? one : two,
                        List.of("round-robin", "power-of-two", "random", "least-connections")
                                .get(step % 4),
                        endpoints);
    }

    private static void arrive(int port, AtomicBoolean over, AtomicLong served, Queue<Throwable> failures) {
        while (!over.get() && failures.isEmpty()) {
            try (ScriptedClient client = ReloadFixture.connect(port)) {
                client.readText(1);
                ReloadFixture.assertEchoes(client);
                client.shutdownOutput();
                assertEquals(End.Kind.FIN, client.readToEnd().kind());
                served.incrementAndGet();
            } catch (IOException | RuntimeException | AssertionError e) {
                failures.add(e);
            }
        }
    }
}
