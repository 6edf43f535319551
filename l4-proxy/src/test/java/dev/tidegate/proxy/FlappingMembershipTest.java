package dev.tidegate.proxy;

import static dev.tidegate.proxy.OperatorFixture.endpoint;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.RemovePolicy;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An endpoint that comes and goes without end, as a registry of services does in its bad moments: a fleet of balancers is
 * said to have been brought down by what each change set off, checks and connections anew, more than by the changes.
 */
class FlappingMembershipTest {
    @Test
    @Tag("slow")
    void itCostsAtMostOneCheckEachTimeAndTheOthersNothing() throws Exception {
        flap(100, 40, 0);
    }

    @Test
    @Tag("nightly")
    void thirtyTimesASecondForAMinuteItCostsAThousandLongConnectionsNothing() throws Exception {
        flap(1_800, 1_000, TimeUnit.SECONDS.toNanos(1) / 30);
    }

    /** So many times there and gone, one each so many nanoseconds, or as fast as it goes. */
    private static void flap(int changes, int longConnections, long eachNanos) throws Exception {
        int port = ReloadFixture.port();
        try (var a = ReloadFixture.named("a");
                var b = ReloadFixture.named("b");
                var c = ReloadFixture.named("c");
                var proxy = ReloadFixture.start(Wish.EPOLL, yaml(port, a, b))) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            proxy.proxy().firstChecks().join();
            List<ScriptedClient> longOnes = new ArrayList<>();
            for (int i = 0; i < longConnections; i++) {
                longOnes.add(ReloadFixture.connectTo(port, i % 2 == 0 ? "a" : "b"));
            }
            long generation = proxy.proxy().snapshot().generation();
            long cpuBefore = cpuNanos();
            long begin = System.nanoTime();
            for (int i = 0; i < changes; i++) {
                long due = begin + i * eachNanos;
                Await.until("it is time", () -> System.nanoTime() - due >= 0);
                comeAndGo(i, proxy, operator, port, a, b, c);
                ReloadFixture.assertEchoes(longOnes.get(i % longConnections));
                try (ScriptedClient client = ReloadFixture.connect(port)) {
                    client.readText(1);
                    ReloadFixture.assertEchoes(client);
                }
            }

            double seconds = (System.nanoTime() - begin) / 1e9;
            double cpuSeconds = (cpuNanos() - cpuBefore) / 1e9;
            System.out.printf(
                    Locale.ROOT,
                    "there and gone %d times in %.1f s, %d long connections: CPU of the proxy's threads %.2f s%n",
                    changes,
                    seconds,
                    longConnections,
                    cpuSeconds);

            // At a pace, so that it has one to keep to: a tenth of a core on a busy machine.
            assertTrue(eachNanos == 0 || cpuSeconds < 0.5 * seconds, () -> "CPU " + cpuSeconds + " s");
            assertEquals(generation + 2L * changes, proxy.proxy().snapshot().generation());
            // Clients speak.
            long checks = c.connections().stream()
                    .filter(connection -> connection.bytesReceived() == 0)
                    .count();
            assertTrue(checks <= changes, () -> "checks of what was there " + changes + " times: " + checks);
            for (String name : List.of("a", "b")) {
                assertEquals(1, proxy.cell(name).fitness().checksPassed(), "no check that was not due");
                assertEquals(0, proxy.cell(name).fitness().checksFailed());
            }
            for (ScriptedClient client : longOnes) {
                ReloadFixture.assertEchoes(client);
                client.close();
            }
            operator.done(add(c));
            Await.until(
                    "in the end it is there", () -> operator.endpointNow("c").pickable());
            assertNull(operator.endpointNow("c").reason());
        }
    }

    /** Of those threads that live. */
    private static long cpuNanos() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("tidegate-"))
                .mapToLong(thread -> Math.max(0, threads.getThreadCpuTime(thread.getId())))
                .sum();
    }

    /** By an operator, or by the file. */
    private static void comeAndGo(
            int time,
            ReloadFixture proxy,
            OperatorFixture operator,
            int port,
            ScriptedBackend a,
            ScriptedBackend b,
            ScriptedBackend c)
            throws Exception {
        if (time % 2 == 0) {
            operator.done(add(c));
            operator.done(new Command.RemoveEndpoint(endpoint("c"), RemovePolicy.KEEP));
        } else {
            proxy.reload(yaml(port, a, b, c));
            proxy.reload(yaml(port, a, b));
        }
    }

    private static Command add(ScriptedBackend c) {
        return new Command.AddEndpoint("back", "c", c.hostPort(), OptionalInt.empty(), OptionalInt.empty());
    }

    private static String yaml(int port, ScriptedBackend... backends) {
        List<String> endpoints = new ArrayList<>();
        for (ScriptedBackend backend : backends) {
            endpoints.add(ReloadFixture.endpoint(String.valueOf((char) ('a' + endpoints.size())), backend));
        }
        return """
                frontends: [{name: front, listen: "127.0.0.1:%d", backend: back}]
                backends:
                  - {name: back, balance: round-robin, endpoints: [%s], health: {type: tcp, interval: 1h, fast-interval: 1h}}
                """.formatted(port, String.join(", ", endpoints));
    }
}
