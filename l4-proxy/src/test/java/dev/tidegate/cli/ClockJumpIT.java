package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The clock on the wall jumps by an hour, as it does when time is set: nothing fires early or late by that. */
@Tag("slow")
class ClockJumpIT {
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final long EJECTION_SECONDS = 6;

    @TempDir
    Path directory;

    @Test
    void anHourForwardAndBackEndsNoConnectionAndNoEjection() throws Exception {
        Path clock = Files.writeString(directory.resolve("clock"), "+0");
        try (var endpoint = ScriptedBackend.start(Scripts.echo());
                var tidegate = TidegateProcess.run(directory, yaml(endpoint))
                        .clockFrom(clock)
                        .start();
                ScriptedClient held = tidegate.connect()) {
            AdminCurl curl = new AdminCurl(directory.resolve("admin.sock"));
            held.send("one");
            assertEquals("one", held.readText(3));
            ejectTheDead(tidegate);
            long ejected = System.nanoTime();
            Instant before = lastCheck(curl);

            Files.writeString(clock, "+3600");
            Await.until("a check an hour later", BOUND, () -> lastCheck(curl).isAfter(before.plusSeconds(3500)));
            // On a machine that is busy its time may really be over by now.
            assertTrue(
                    ejected(curl) || secondsSince(ejected) >= EJECTION_SECONDS - 1, "it goes by the time that passes");
            Files.writeString(clock, "-3600");
            Await.until("a check an hour earlier", BOUND, () -> lastCheck(curl).isBefore(before.minusSeconds(3500)));

            Await.until("the ejection is over", BOUND, () -> !ejected(curl));
            long seconds = secondsSince(ejected);
            assertTrue(seconds >= EJECTION_SECONDS - 1, "ejected for " + seconds);
            held.send("two");
            assertEquals("two", held.readText(3));
            assertTrue(
                    tidegate.err().stream()
                            .noneMatch(line ->
                                    line.contains("endpoint down backend=back endpoint=" + endpoint.hostPort())),
                    tidegate.err()::toString);
        }
    }

    /** Connections until the endpoint that nobody listens for has refused enough of them. */
    private static void ejectTheDead(TidegateProcess tidegate) throws IOException {
        long until = System.nanoTime() + BOUND.toNanos();
        while (tidegate.err().stream().noneMatch(line -> line.contains("endpoint-ejected"))) {
            assertTrue(System.nanoTime() - until < 0, "not ejected");
            try (ScriptedClient client = tidegate.connect()) {
                client.send("x");
                assertEquals("x", client.readText(1));
            }
        }
    }

    private static long secondsSince(long nanos) {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - nanos);
    }

    private static boolean ejected(AdminCurl curl) {
        return !curl.look("/v1/backends/back/endpoints/dead").get("ejection").isNull();
    }

    private static Instant lastCheck(AdminCurl curl) {
        return Instant.parse(curl.look("/v1/backends/back/endpoints/alive")
                .at("/health/checks/0/time")
                .asText());
    }

    private String yaml(ScriptedBackend endpoint) {
        return """
                admin: {listen: "unix:%s"}
                log: {access: {path: none}}
                process: {warm-up: off}
                frontends: [{name: front, listen: "127.0.0.1:0", backend: back, timeouts: {idle: 10m}}]
                backends:
                  - name: back
                    endpoints: [{name: alive, address: "%s"}, {name: dead, address: "127.0.0.1:%d"}]
                    health: {type: tcp, interval: 200ms, port: %d}
                    outlier: {consecutive-failures: 2, ejection: %ds}
                """.formatted(
                        directory.resolve("admin.sock"),
                        endpoint.hostPort(),
                        FreePort.pick(),
                        endpoint.address().getPort(),
                        EJECTION_SECONDS);
    }
}
