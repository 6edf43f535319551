package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Fitness.Unfit;
import dev.tidegate.telemetry.LogLines;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedConnection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Endpoints that answer their checks late when they are busy: who is taken out makes the others busier. */
class CascadeTest {
    private static final int CARRIES = 20;
    private static final int CLIENTS = 54; // 18 for each of three, 27 for each of two
    private static final Duration BOUND = Duration.ofSeconds(25); // below the 30 s of an ejection

    /**
     * huggingface/dataset-viewer#3422: busy endpoints timed their checks out, the others got what was theirs, and the flapping
     * fed itself. Here the panic spreads connections over all, so that nobody gets more than before; and who comes back takes
     * its share at once, though it was ejected.
     */
    @Test
    @Tag("slow")
    void whoIsTakenOutForBeingBusyMakesNobodyBusierAndItEndsWhenTheThirdIsBack() throws Exception {
        try (Busy a = new Busy(0);
                Busy b = new Busy(0);
                Busy c = new Busy(0);
                LogLines log = new LogLines("dev.tidegate.control.Health");
                ReloadFixture proxy = ReloadFixture.start(Wish.EPOLL, yaml(a, b, c));
                Crowd crowd = new Crowd(proxy)) {
            crowd.turnOverUntil("each has connections", () -> all(proxy, cell -> cell.inFlight() > 10));
            int port = c.port();
            c.die();
            crowd.turnOverUntil(
                    "all are down", () -> all(proxy, cell -> cell.fitness().unfit(Unfit.DOWN)));

            long checks = proxy.cell("a").fitness().checksFailed() + 5;
            crowd.turnOverUntil("they stay so", () -> proxy.cell("a").fitness().checksFailed() >= checks);
            assertEquals(
                    3, log.messages().stream().filter(CascadeTest::isChange).count(), log.messages()::toString);
            assertEquals(0, crowd.lost, "clients that nobody served");

            try (Busy again = new Busy(port)) {
                crowd.turnOverUntil(
                        "all serve again",
                        () -> all(proxy, cell -> cell.fitness().fit()) && again.open.get() > CARRIES / 2);
                long passes = proxy.cell("a").fitness().checksPassed() + 10;
                crowd.turnOverUntil("and go on", () -> proxy.cell("a").fitness().checksPassed() >= passes);
                assertTrue(all(proxy, cell -> cell.fitness().fit()), log.messages()::toString);
                // Three down, three up; and one that was still too busy when another was not.
                long changes =
                        log.messages().stream().filter(CascadeTest::isChange).count();
                assertTrue(changes <= 8, log.messages()::toString);
                assertEquals(0, crowd.lost, "clients that nobody served");
            }
        }
    }

    private static boolean isChange(String line) {
        return (line.startsWith("endpoint up ") && !line.contains(" before=unknown "))
                || line.startsWith("endpoint down ");
    }

    private static boolean all(ReloadFixture proxy, Predicate<EndpointCell> holds) {
        return Stream.of("a", "b", "c").map(proxy::cell).allMatch(holds);
    }

    private static String yaml(Busy a, Busy b, Busy c) {
        return """
                frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                backends:
                  - name: back
                    endpoints: [{name: a, address: "%s"}, {name: b, address: "%s"}, {name: c, address: "%s"}]
                    health:
                      {type: send-expect, steps: [{send: "?"}, {expect: "!"}], interval: 100ms, timeout: 500ms, rise: 2, fall: 3}
                """.formatted(a.hostPort(), b.hostPort(), c.hostPort());
    }

    /** Clients that do not stay: one leaves, one comes. */
    private static final class Crowd implements AutoCloseable {
        private final ReloadFixture proxy;
        private final Deque<ScriptedClient> clients = new ArrayDeque<>();
        int lost;

        Crowd(ReloadFixture proxy) throws IOException {
            this.proxy = proxy;
            for (int i = 0; i < CLIENTS; i++) {
                come();
            }
        }

        void come() throws IOException {
            ScriptedClient client = ScriptedClient.connect(
                    proxy.proxy().listeningOn().values().iterator().next());
            clients.add(client);
            try {
                client.send("x");
                assertEquals("x", client.readText(1));
            } catch (PeerGoneException reset) {
                lost++;
            }
        }

        void turnOverUntil(String what, BooleanSupplier holds) throws IOException {
            long begin = System.nanoTime();
            while (!holds.getAsBoolean()) {
                if (System.nanoTime() - begin > BOUND.toNanos()) {
                    throw new AssertionError("still not so after " + BOUND + ": " + what);
                }
                clients.remove().close();
                come();
            }
        }

        @Override
        public void close() {
            clients.forEach(ScriptedClient::close);
        }
    }

    /** Echoes; and answers a check at once, unless it has too many connections. */
    private static final class Busy implements AutoCloseable {
        private final AtomicInteger open = new AtomicInteger();
        private final ScriptedBackend backend;

        Busy(int port) {
            backend = ScriptedBackend.start(
                    port == 0 ? ScriptedBackend.Options.DEFAULT : ScriptedBackend.Options.DEFAULT.onPort(port),
                    this::serve);
        }

        int port() {
            return backend.port();
        }

        /** With all its connections. */
        void die() {
            backend.close();
        }

        String hostPort() {
            return backend.hostPort();
        }

        private void serve(ScriptedConnection connection) throws IOException {
            String first = new String(connection.readExactly(1), StandardCharsets.US_ASCII);
            if (first.equals("?")) {
                if (open.get() <= CARRIES) {
                    connection.send(new byte[] {'!'});
                }
                connection.readToEnd();
                return;
            }
            open.incrementAndGet();
            try {
                connection.send(first.getBytes(StandardCharsets.US_ASCII));
                connection.readToEnd();
            } finally {
                open.decrementAndGet();
            }
        }

        @Override
        public void close() {
            backend.close();
        }
    }
}
