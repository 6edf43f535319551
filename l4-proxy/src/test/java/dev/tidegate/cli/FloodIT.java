package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What comes at any rate is said once a second. */
class FloodIT {
    @TempDir
    Path directory;

    /** haproxy/haproxy#311: without a server, a line for each client filled the log. */
    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("slow")
    void refusedClientsAreSummed(String transport) throws Exception {
        try (ScriptedBackend refusing = ScriptedBackend.refusing();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(refusing, transport, "attempts: 1"))
                        .start()) {
            long begin = System.nanoTime();
            int refused = 0;
            while (System.nanoTime() - begin < Duration.ofSeconds(3).toNanos()) {
                try (ScriptedClient client = tidegate.connect()) {
                    assertEquals(End.Kind.RST, client.readToEnd().kind());
                } catch (PeerGoneException atOnce) {
                    assertTrue(tidegate.isAlive());
                }
                refused++;
            }
            double seconds = (System.nanoTime() - begin) / 1e9;
            int all = refused;
            Await.until("all are logged", () -> tidegate.out().size() == all);
            tidegate.signal("TERM");
            assertEquals(0, tidegate.awaitExit());

            var lines = tidegate.err().stream()
                    .filter(line -> line.contains("refused by endpoint"))
                    .toList();
            assertTrue(refused > 50, "only " + refused + " clients");
            assertTrue(lines.size() <= seconds + 3, lines.size() + " lines for " + refused + " in " + seconds + " s");
            long told = lines.stream()
                    .mapToLong(line -> Long.parseLong(line.replaceFirst(".* count=(\\d+).*", "$1")))
                    .sum();
            assertEquals(refused, told, () -> String.join("\n", lines));
        }
    }

    /** PurpleI2P/i2pd#1549: the same message without end. */
    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    void resetsByClientsAreNotLoggedButInTheAccessLog(String transport) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.start(Scripts.readToEnd());
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, transport, "attempts: 3"))
                        .start()) {
            for (int i = 0; i < 500; i++) {
                ScriptedClient client = tidegate.connect();
                client.send("x");
                client.reset();
            }
            Await.until("all are logged", () -> tidegate.out().size() == 500);

            assertEquals(List.of(), sinceStart(tidegate));
        }
    }

    /** warp-tech/warpgate#2379: the probes of a balancer in front filled the log with errors. */
    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    void probesOfABalancerInFrontAreNoErrors(String transport) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.start(Scripts.readToEnd());
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, transport, "attempts: 3"))
                        .start()) {
            for (int i = 0; i < 100; i++) {
                tidegate.connect().close();
                tidegate.connect().reset();
                try (ScriptedClient probe = tidegate.connect()) {
                    probe.send("PROXY UNKNOWN\r\n");
                }
            }
            Await.until("all are logged", () -> tidegate.out().size() == 300);

            assertEquals(List.of(), sinceStart(tidegate));
            assertTrue(
                    tidegate.out().stream()
                            .allMatch(line -> line.contains("\"reason\":\"client-closed\"")
                                    || line.contains("\"reason\":\"client-reset\"")),
                    () -> String.join("\n", tidegate.out()));
        }
    }

    private static List<String> sinceStart(TidegateProcess tidegate) {
        return tidegate.err().stream()
                .filter(line -> !line.contains(" Service ") && !line.contains(" WarmUp "))
                .toList();
    }

    private static String yaml(ScriptedBackend backend, String transport, String connect) {
        return """
                process: {warm-up: off, workers: 1, transport: %s}
                frontends:
                  - {name: front, listen: "127.0.0.1:0", backend: back}
                backends:
                  - name: back
                    connect: {%s}
                    endpoints: [{address: "%s"}]
                """.formatted(transport, connect, backend.hostPort());
    }
}
