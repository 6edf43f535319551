package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the whole process does when checks fail everywhere, and when it could not listen to them itself. */
@Tag("slow")
class PanicIT {
    private static final Duration BOUND = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    /** Data ports accept, checks fail: envoyproxy/envoy#14968. */
    @ParameterizedTest
    @ValueSource(strings = {"spread", "refuse"})
    void whenAllChecksFailConnectionsAreSpreadOrRefused(String mode) throws Exception {
        try (var one = ScriptedBackend.start(Scripts.echo());
                var two = ScriptedBackend.start(Scripts.echo());
                var tidegate = TidegateProcess.run(
                                directory,
                                yaml(
                                        List.of(one.hostPort(), two.hostPort()),
                                        "{type: tcp, port: " + FreePort.pick() + ", interval: 100ms}",
                                        "panic: {mode: " + mode + "}"))
                        .start()) {
            tidegate.awaitErr("panic-started");
            AdminCurl curl = new AdminCurl(directory.resolve("admin.sock"));
            Await.until(
                    "both down",
                    BOUND,
                    () -> curl.look("/v1/backends/back").get("pickable").asInt() == 0);
            assertTrue(curl.look("/v1/backends/back").get("panic").asBoolean());
            assertEquals(mode.equals("spread") ? 200 : 503, curl.get("/readyz").status());
            for (int i = 0; i < 100; i++) {
                assertEquals(mode.equals("spread"), isServed(tidegate));
            }
            if (mode.equals("refuse")) {
                Await.until(
                        "all refused",
                        BOUND,
                        () -> curl.look("/v1/frontends/front")
                                        .at("/closed/no-endpoint")
                                        .asInt()
                                == 100);
            }
        }
    }

    /** Who is refused sees a reset, perhaps before it has seen the connection. */
    private static boolean isServed(TidegateProcess tidegate) throws IOException {
        try (ScriptedClient client = tidegate.connect()) {
            client.send("hello");
            return client.readText(5).equals("hello");
        } catch (PeerGoneException refused) {
            return false;
        }
    }

    /** Seconds in which nobody was heard, as many as twenty checks, condemn nobody, and bring no burst of checks. */
    @Test
    void aProcessThatStoodStillCondemnsNobody() throws Exception {
        AtomicInteger checks = new AtomicInteger();
        try (var one = ScriptedBackend.start(connection -> {
                    checks.getAndIncrement();
                    connection.readToEnd(Duration.ofSeconds(30));
                });
                var tidegate = TidegateProcess.run(
                                directory,
                                yaml(
                                        List.of(one.hostPort()),
                                        "{type: tcp, interval: 200ms, timeout: 200ms, fall: 1, rise: 1}",
                                        ""))
                        .start()) {
            Await.until("checks", BOUND, () -> checks.get() >= 5);
            tidegate.signal("STOP");
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(4);
            Await.until("seconds pass", BOUND, () -> System.nanoTime() - until >= 0);
            int before = checks.get();
            tidegate.signal("CONT");
            long soon = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            Await.until("a second passes", BOUND, () -> System.nanoTime() - soon >= 0);
            int burst = checks.get() - before;
            Await.until("checks go on", BOUND, () -> checks.get() >= before + 5);

            assertTrue(burst <= 8, "checks in the second after it: " + burst);
            assertFalse(
                    tidegate.err().stream().anyMatch(line -> line.contains("endpoint down")), tidegate.err()::toString);
            assertEquals(
                    0,
                    new AdminCurl(directory.resolve("admin.sock"))
                            .get("/metrics")
                            .body()
                            .lines()
                            .filter(line -> line.startsWith("tidegate_health_checks_total")
                                    && line.contains("\"fail\"")
                                    && !line.endsWith(" 0.0"))
                            .count());
        }
    }

    private String yaml(List<String> endpoints, String health, String more) {
        return """
                admin: {listen: "unix:%s"}
                log: {access: {path: none}}
                process: {warm-up: off}
                frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                backends:
                  - name: back
                    endpoints: [%s]
                    health: %s
                    %s
                """.formatted(
                        directory.resolve("admin.sock"),
                        String.join(
                                ", ",
                                endpoints.stream()
                                        .map(address -> "{address: \"" + address + "\"}")
                                        .toList()),
                        health,
                        more);
    }
}
