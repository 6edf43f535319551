package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A balancer that is an endpoint of another one. */
class ChainIT {
    private static final Duration BOUND = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    @Tag("slow")
    void checksOfItsReadinessSeeWhomItCanServeAndTroubleNobodyBehindIt() throws Exception {
        int adminPort = FreePort.pick();
        try (var echo = ScriptedBackend.start(Scripts.echo());
                var second = TidegateProcess.run(in("second"), second(echo, adminPort))
                        .start();
                var first = TidegateProcess.run(in("first"), first(second.port(), adminPort))
                        .start()) {
            AdminCurl atFirst = new AdminCurl(directory.resolve("first/admin.sock"));
            AdminCurl atSecond = new AdminCurl(directory.resolve("second/admin.sock"));
            Await.until(
                    "it is served",
                    BOUND,
                    () -> atFirst.endpoint("a").get("pickable").asBoolean());
            assertEchoes(first);

            atSecond.post("/v1/backends/back/endpoints/a/drain", "{}").expect(202);
            Await.until("nobody is behind it", BOUND, () -> health(atFirst).equals("not-ready"));
            assertEquals(
                    "not ready: HTTP 503", atFirst.endpoint("a").get("reason").asText());

            atSecond.call("DELETE", "/v1/backends/back/endpoints/a/drain", null).expect(204);
            Await.until("somebody is", BOUND, () -> health(atFirst).equals("up"));
            assertEchoes(first);

            Await.until(
                    "it is checked again and again",
                    BOUND,
                    () -> atFirst.endpoint("a").at("/health/checks").size() >= 10);
            assertEquals(2, echo.connections().size(), "connections behind it are those of clients");
        }
    }

    private static String health(AdminCurl admin) {
        return admin.endpoint("a").at("/health/state").asText();
    }

    private static void assertEchoes(TidegateProcess tidegate) throws IOException {
        try (ScriptedClient client = tidegate.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));
        }
    }

    private Path in(String name) throws IOException {
        return Files.createDirectories(directory.resolve(name));
    }

    private String second(ScriptedBackend echo, int adminPort) {
        return """
                admin: {listen: ["unix:%s", "127.0.0.1:%d"]}
                frontends: [{name: edge, listen: "127.0.0.1:0", backend: back}]
                backends: [{name: back, endpoints: [{name: a, address: "%s"}]}]
                """.formatted(directory.resolve("second/admin.sock"), adminPort, echo.hostPort());
    }

    private String first(int frontPort, int adminPort) {
        return """
                admin: {listen: "unix:%s"}
                frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                backends:
                  - name: back
                    endpoints: [{name: a, address: "127.0.0.1:%d"}]
                    health:
                      {type: http, port: %d, path: "/readyz?frontend=edge", not-ready-status: 503, interval: 200ms, fall: 1, rise: 1}
                """.formatted(directory.resolve("first/admin.sock"), frontPort, adminPort);
    }
}
