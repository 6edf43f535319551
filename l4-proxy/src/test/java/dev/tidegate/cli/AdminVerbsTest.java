package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidegate.admin.view.ChangeView;
import dev.tidegate.admin.view.DiffView;
import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.Page;
import dev.tidegate.admin.view.ProblemView;
import dev.tidegate.testkit.Tool;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class AdminVerbsTest {
    private static final String ENDPOINT = "/v1/backends/web/endpoints/a";

    @TempDir
    Path directory;

    private StringWriter out;
    private StringWriter err;

    @BeforeEach
    void clear() {
        out = new StringWriter();
        err = new StringWriter();
    }

    private int execute(String... arguments) {
        return Main.execute(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    /** The command line, told where the socket is. */
    private int ask(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--admin", "unix:" + directory.resolve("admin.sock")));
        return execute(all.toArray(String[]::new));
    }

    private record Write(String command, String request, String said) {}

    /** Every verb that is one request: what is sent, and that both forms show what is answered. */
    @TestFactory
    @Tag("slow")
    Stream<DynamicTest> aWriteSendsOneRequestAndShowsItsAnswer() {
        return Stream.of(
                        new Write("drain web/a", "POST " + ENDPOINT + "/drain", "draining"),
                        new Write(
                                "drain web/a --deadline 10m --spread 2m --mode graceful",
                                "POST " + ENDPOINT
                                        + "/drain {\"deadline\":\"10m\",\"spread\":\"2m\",\"mode\":\"graceful\"}",
                                "draining"),
                        new Write("drain web", "POST /v1/backends/web/drain", "draining"),
                        new Write("drain --frontend edge", "POST /v1/frontends/edge/drain", "draining"),
                        new Write(
                                "drain --process --deadline 90s", "POST /v1/drain {\"deadline\":\"90s\"}", "draining"),
                        new Write("drain web/a --dry-run", "POST " + ENDPOINT + "/drain?dryRun=true", "draining"),
                        new Write("undrain web", "DELETE /v1/backends/web/drain", "undrained"),
                        new Write("undrain --frontend edge", "DELETE /v1/frontends/edge/drain", "undrained"),
                        new Write("undrain --process", "DELETE /v1/drain", "undrained"),
                        new Write("disable web/a", "POST " + ENDPOINT + "/disable", "web/a: disabled"),
                        new Write("enable web/a", "DELETE " + ENDPOINT + "/disable", "web/a: enabled"),
                        new Write("weight web/a 5", "PUT " + ENDPOINT + "/weight {\"weight\":5}", "web/a: weight 5"),
                        new Write(
                                "weight web/a reset", "DELETE " + ENDPOINT + "/weight", "web/a: the configured weight"),
                        new Write(
                                "add web/b 10.0.0.2:80",
                                "POST /v1/backends/web/endpoints {\"name\":\"b\",\"address\":\"10.0.0.2:80\"}",
                                "web/b: added"),
                        new Write(
                                "add web/b 10.0.0.2:80 --weight 3 --max-connections 9",
                                "POST /v1/backends/web/endpoints {\"name\":\"b\",\"address\":\"10.0.0.2:80\","
                                        + "\"weight\":3,\"max_connections\":9}",
                                "web/b: added"),
                        new Write("remove web/a", "DELETE " + ENDPOINT, "web/a: removed"),
                        new Write("remove web/a --policy cut", "DELETE " + ENDPOINT + "?policy=cut", "web/a: removed"),
                        new Write(
                                "remove web/10.0.0.1:80 --policy keep --dry-run",
                                "DELETE /v1/backends/web/endpoints/10.0.0.1%3A80?policy=keep&dryRun=true",
                                "web/10.0.0.1:80: removed"),
                        new Write("close c-1", "DELETE /v1/connections/c-1?mode=graceful", "c-1: retired"),
                        new Write("close c-1 --abort", "DELETE /v1/connections/c-1?mode=abort", "c-1: reset"),
                        new Write("rebalance web", "POST /v1/backends/web/rebalance", "web: nothing to move"),
                        new Write(
                                "rebalance web --spread 2m",
                                "POST /v1/backends/web/rebalance {\"spread\":\"2m\"}",
                                "web: nothing to move"),
                        new Write("reload", "POST /v1/reload", "reloaded"),
                        new Write("reload --dry-run", "POST /v1/reload?dryRun=true", "valid"),
                        new Write("log-level debug", "PUT /v1/log-level {\"level\":\"debug\"}", "debug"),
                        new Write("log-level trace", "PUT /v1/log-level {\"level\":\"trace\"}", "trace"))
                .map(write -> DynamicTest.dynamicTest(write.command(), () -> check(write)));
    }

    private void check(Write write) throws IOException {
        clear();
        String line = write.request().replaceAll(" \\{.*", "");
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.text(line, 204, "text/plain", "").on(line, 200, Map.of("some", "member"));
            assertEquals(Exit.OK, ask(write.command().split(" ")), err::toString);
            assertEquals(write.said(), out.toString().strip());

            clear();
            List<String> words = new ArrayList<>(List.of(write.command().split(" ")));
            words.addAll(List.of("--output", "json"));
            assertEquals(Exit.OK, ask(words.toArray(String[]::new)), err::toString);
            assertEquals(
                    "member",
                    new ObjectMapper().readTree(out.toString()).at("/some").asText());
            assertEquals(List.of(write.request(), write.request()), api.asked());
        }
    }

    @Test
    void aWriteMayBeBoundToAGenerationAndCarriesAToken() throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "s3cret\n");
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("POST " + ENDPOINT + "/disable", 200, Views.endpoint("a", "disabled", 3, 9));

            assertEquals(Exit.OK, ask("disable", "web/a", "--if-generation", "12", "--token-file", token.toString()));

            Map<String, String> headers = api.requests().get(0).headers();
            assertAll(
                    () -> assertEquals("\"12\"", headers.get("if-match")),
                    () -> assertEquals("Bearer s3cret", headers.get("authorization")),
                    () -> assertEquals("localhost", headers.get("host")),
                    () -> assertEquals(
                            "web/a: disabled, weight 5 (configured: 1), in-flight 3",
                            out.toString().strip()));
        }
    }

    @Test
    void statusShowsTheProcessItsFrontendsAndEndpoints() throws IOException {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("GET /v1/status", 200, Views.status(Views.operation("running", 12)))
                    .on("GET /v1/frontends", 200, Views.frontends(100))
                    .on(
                            "GET /v1/backends",
                            200,
                            Views.backends(
                                    Views.endpoint("a", "draining", 12, 100), Views.endpoint("b", "ready", 29, 70)));

            assertEquals(Exit.OK, ask("status"), err::toString);
            assertEquals("""
                    tidegate 1.2.3, pid 4711: ready, up 3d04h
                    config       /etc/tidegate/tidegate.yaml, generation 12; reloads: 3 applied
                    transport    epoll (io_uring is not available)
                    connections  41 of 10000, on workers 21 + 20
                    log level    info

                    FRONTEND  STATE  LISTENS         BACKEND  CONNECTIONS  ACCEPTED  RECEIVED     SENT
                    edge      ready  127.0.0.1:8443  web               41       100   4.9 MiB  6.5 GiB

                    ENDPOINT  ADDRESS      STATE     IN-FLIGHT  WEIGHT  PICKS  FAILED
                    web/a     10.0.0.1:80  draining         12       5    100       3
                    web/b     10.0.0.1:80  ready            29       5     70       3

                    drain of backends/web/endpoints/a (op-7): running, 12 of 30 left, oldest 3m05s, \
                    about 40s to go, 1.5/s, cut at 2026-11-29T10:00:00Z
                    """, out.toString());

            clear();
            assertEquals(Exit.OK, ask("status", "--output", "json"), err::toString);
            var json = new ObjectMapper().readTree(out.toString());
            assertEquals(4711, json.at("/pid").asInt());
            assertEquals("b", json.at("/backends/items/0/endpoints/1/name").asText());
            assertEquals("edge", json.at("/frontends/items/0/name").asText());
        }
    }

    @Test
    void statusSaysWhyEndpointsAreNotPickableAndWhichBackendIsInPanic() throws IOException {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("GET /v1/status", 200, Views.status())
                    .on("GET /v1/frontends", 200, Views.frontends(100))
                    .on(
                            "GET /v1/backends",
                            200,
                            Views.backends(
                                    true,
                                    true,
                                    Views.judged(
                                            "a",
                                            "down: connection refused",
                                            Views.health("down", 0, "connection refused"),
                                            null,
                                            null,
                                            100),
                                    Views.judged("b", "ejected until soon", null, Views.ejection(), null, 100),
                                    Views.judged("c", null, null, null, null, 40)));

            assertEquals(Exit.OK, ask("status"), err::toString);
            String text = out.toString();
            assertEquals("""
                    ENDPOINT  ADDRESS      STATE    IN-FLIGHT  WEIGHT  PICKS  FAILED
                    web/a     10.0.0.1:80  down             4       5     50       3
                    web/b     10.0.0.1:80  ejected          4       5     50       3
                    web/c     10.0.0.1:80  ready            4       5     50       3

                    backend web is in panic: 1 of 3 endpoints fit, connections are spread over all
                    web/a is not pickable: down: connection refused (since 2026-11-29T10:00:00Z)
                    web/b is not pickable: ejected until soon
                    web/c is in slow start: 40% of its share
                    """, text.substring(text.indexOf("ENDPOINT")));
        }
    }

    @Test
    void optionsMayStandBeforeTheCommandToo() {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("GET /v1/log-level", 200, Map.of("level", "info"));
            String socket = "unix:" + directory.resolve("admin.sock");

            assertEquals(Exit.OK, execute("--output", "json", "--admin", socket, "log-level"), err::toString);
            assertTrue(out.toString().contains("\"level\" : \"info\""), out::toString);
            assertEquals(Exit.OK, execute("--admin", "http://127.0.0.1:1", "log-level", "--admin", socket));
        }
    }

    @Test
    void connectionsAreListedAsFiltered() {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            String line = "GET /v1/connections?frontend=edge&backend=web&endpoint=a&limit=2";
            api.on(line, 200, Views.connections());

            assertEquals(
                    Exit.OK,
                    ask("connections", "--frontend", "edge", "--endpoint", "web/a", "--limit", "2"),
                    err::toString);
            assertEquals(
                    """
                    ID   CLIENT           FRONTEND  ENDPOINT  PROTOCOL  STATE                             AGE   IDLE  RETIRES IN  REQUESTS  RECEIVED     SENT
                    c-1  127.0.0.1:40000  edge      web/a     http1     relaying, retiring: drain, told  2h05m  500ms           -        12   2.9 KiB  4.8 MiB
                    c-2  127.0.0.1:40001  edge      web/-     http1     dialing                          900ms  500ms       1m01s        12   2.9 KiB  4.8 MiB
                    2 of 41 connections
                    """.replace("STATE                             AGE", "STATE                              AGE"),
                    out.toString());
            assertEquals(
                    Exit.OK,
                    ask(
                            "connections",
                            "--backend",
                            "web",
                            "--endpoint",
                            "a",
                            "--frontend",
                            "edge",
                            "--limit",
                            "2",
                            "--output",
                            "json"));
            assertEquals(List.of(line, line), api.asked());
        }
    }

    @Test
    void operationsAreListed() throws IOException {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on(
                            "GET /v1/operations",
                            200,
                            new Page<>(List.of(Views.operation("running", 12), Views.operation("done", 0)), 2))
                    .on("GET /v1/operations/op-7", 200, Views.operation("done", 0));

            assertEquals(Exit.OK, ask("operations"), err::toString);
            List<String> lines = out.toString().lines().toList();
            assertEquals(3, lines.size());
            assertTrue(
                    lines.get(1)
                            .matches(
                                    "op-7 +drain +backends/web/endpoints/a +running +30 +12 +18 +0 +1.5 +3m05s +40s +.*Z"),
                    lines.get(1));
            assertTrue(
                    lines.get(2).matches("op-7 +drain +backends/web/endpoints/a +done +30 +0 +30 +0 +0.0 +- +- +-"),
                    lines.get(2));

            clear();
            assertEquals(Exit.OK, ask("operations", "op-7"), err::toString);
            assertEquals(
                    "drain of backends/web/endpoints/a (op-7): done, 30 connections: 30 retired, 0 cut",
                    out.toString().strip());

            clear();
            assertEquals(Exit.OK, ask("operations", "--output", "json"), err::toString);
            assertEquals(
                    2, new ObjectMapper().readTree(out.toString()).at("/total").asInt());
        }
    }

    @Test
    @Tag("slow")
    void aDrainThatIsWaitedForEndsWithItsOperation() {
        OperationView begun = Views.operation("running", 30);
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("POST " + ENDPOINT + "/drain", 202, begun)
                    .on("GET /v1/operations/op-7", 200, Views.operation("running", 11))
                    .on("GET /v1/operations/op-7", 200, Views.operation("done", 0));

            assertEquals(Exit.OK, ask("drain", "web/a", "--wait"), err::toString);
            assertEquals("""
                    drain of backends/web/endpoints/a (op-7): running, 30 of 30 left, oldest 3m05s, \
                    about 40s to go, 1.5/s, cut at 2026-11-29T10:00:00Z
                    drain of backends/web/endpoints/a (op-7): running, 11 of 30 left, oldest 3m05s, \
                    about 40s to go, 1.5/s, cut at 2026-11-29T10:00:00Z
                    drain of backends/web/endpoints/a (op-7): done, 30 connections: 30 retired, 0 cut
                    """, out.toString());
        }
    }

    @Test
    void aDrainThatWasCancelledWhileWaitedForIsAFailure() throws IOException {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("POST " + ENDPOINT + "/drain", 202, Views.operation("running", 30))
                    .on("GET /v1/operations/op-7", 200, Views.operation("cancelled", 11));

            assertEquals(Exit.FAILED, ask("drain", "web/a", "--wait", "--output", "json"), err::toString);
            assertEquals(
                    "cancelled",
                    new ObjectMapper().readTree(out.toString()).at("/state").asText());
        }
    }

    @Test
    void theBarOfADrainFitsInALineAndIsAsFullAsItIsFar() {
        String line = DrainWait.line(json(Views.operation("running", 10)));

        assertEquals("[####################..........] 10 of 30 left, oldest 3m05s, about 40s to go", line);
        assertTrue(line.length() < 80);
    }

    @Test
    void aDiffShowsEachChangeInALine() {
        DiffView diff = new DiffView(
                12,
                List.of(
                        new ChangeView("add", "backends.web.endpoints.c", null, "{address: 10.0.0.3:80}", "live", 0),
                        new ChangeView("remove", "backends.web.endpoints.b", "{address: 10.0.0.2:80}", null, "live", 7),
                        new ChangeView("change", "process.workers", "auto", "4", "restart", 0)));
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("POST /v1/reload?dryRun=true", 200, diff);

            assertEquals(Exit.OK, ask("reload", "--dry-run"), err::toString);
            assertEquals("""
                    + backends.web.endpoints.c: {address: 10.0.0.3:80}
                    - backends.web.endpoints.b: {address: 10.0.0.2:80}  [retires 7 connections]
                    ~ process.workers: auto -> 4  [at the next start]
                    3 changes; generation 12
                    """, out.toString());
        }
    }

    private static final String CONFIG = """
            frontends:
              - {name: edge, listen: "127.0.0.1:8443", backend: web}
            backends:
              - name: web
                endpoints:
                  - {name: a, address: "10.0.0.1:80"}
            """;

    private static Map<String, Object> inForce() {
        return Map.of(
                "frontends",
                List.of(Map.of("name", "edge", "listen", List.of("127.0.0.1:8443"), "backend", "web")),
                "backends",
                List.of(Map.of(
                        "name",
                        "web",
                        "endpoints",
                        List.of(
                                Map.of("name", "a", "address", "10.0.0.1:80", "weight", 1),
                                Map.of("name", "b", "address", "10.0.0.2:80", "weight", 1)))));
    }

    @Test
    void aFileThatIsNotTheProcessesIsComparedWithWhatIsInForce() throws IOException {
        Path file = Files.writeString(directory.resolve("other.yaml"), CONFIG);
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("GET /v1/status", 200, Views.status())
                    .on("GET /v1/config", 200, inForce())
                    .on("GET /v1/frontends", 200, Views.frontends(1))
                    .on(
                            "GET /v1/backends",
                            200,
                            Map.of(
                                    "items",
                                    List.of(Map.of(
                                            "name",
                                            "web",
                                            "endpoints",
                                            List.of(Map.of("address", "10.0.0.2:80", "in_flight", 7))))));

            assertEquals(Exit.OK, ask("diff", "--config", file.toString()), err::toString);
            assertEquals("""
                    - backends.web.endpoints.b: {address: 10.0.0.2:80, weight: 1, max-connections: none}  \
                    [retires 7 connections]
                    1 change; generation 12
                    """, out.toString());

            clear();
            assertEquals(Exit.OK, ask("diff", "--config", file.toString(), "--output", "json"), err::toString);
            var json = new ObjectMapper().readTree(out.toString());
            assertEquals(12, json.at("/generation").asInt());
            assertEquals(7, json.at("/changes/0/connections").asInt());
            assertTrue(json.at("/changes/0/to").isNull());
        }
    }

    @Test
    void theProcessesOwnFileIsComparedByTheProcess() throws IOException {
        Path file = Files.writeString(directory.resolve("tidegate.yaml"), CONFIG);
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("GET /v1/status", 200, Map.of("config", file.toString(), "generation", 12))
                    .on("POST /v1/reload?dryRun=true", 200, new DiffView(12, List.of()));

            assertEquals(Exit.OK, ask("diff", "--config", file.toString()), err::toString);
            assertEquals("no change; generation 12", out.toString().strip());
        }
    }

    @Test
    void aDiffOfAFileThatIsInvalidTellsAllItsProblems() throws IOException {
        Path file = Files.writeString(directory.resolve("bad.yaml"), "frontends: 7\nbackend: []\n");
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("GET /v1/status", 200, Views.status());

            assertEquals(Exit.FAILED, ask("diff", "--config", file.toString()));
            assertTrue(err.toString().contains("bad.yaml:1:12: frontends"), err::toString);
            assertTrue(err.toString().contains("bad.yaml:2:1: backend"), err::toString);
        }
    }

    @Test
    void aDiffOfAFileThatIsInvalidIsAnObjectWhereJsonWasAskedFor() throws IOException {
        Path file = Files.writeString(directory.resolve("bad.yaml"), "frontends: 7\n");
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("GET /v1/status", 200, Views.status());

            assertEquals(Exit.FAILED, ask("diff", "--config", file.toString(), "--output", "json"));
            var shown = new ObjectMapper().readTree(out.toString());
            assertFalse(shown.at("/valid").asBoolean(true));
            assertTrue(shown.at("/problems").findValuesAsText("path").contains("frontends"), shown::toString);
            assertEquals("", err.toString());
        }
    }

    /** It printed {@code null}: what answers nothing answers with a generation, and what was undrained with itself. */
    @Test
    void whatIsAnsweredWithoutABodyIsAnObjectInJson() throws IOException {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.tagged("DELETE " + ENDPOINT + "?policy=keep", 204, 12)
                    .tagged("DELETE /v1/connections/c-1?mode=abort", 204, 13)
                    .tagged("DELETE " + ENDPOINT + "/drain", 204, 14)
                    .on("GET " + ENDPOINT, 200, Map.of("name", "a", "state", "ready"))
                    .tagged("DELETE /v1/drain", 204, 15)
                    .on("GET /v1/status", 200, Map.of("state", "running"))
                    .tagged("DELETE /v1/frontends/edge/drain", 204, 16);

            assertEquals(
                    "12", json("remove web/a --policy keep").at("/generation").asText());
            assertEquals("13", json("close c-1 --abort").at("/generation").asText());
            assertEquals("ready", json("undrain web/a").at("/state").asText());
            assertEquals("running", json("undrain --process").at("/state").asText());
            assertEquals("", err.toString());
            // Gone by the time that it is looked at: undrained all the same.
            assertEquals("16", json("undrain --frontend edge").at("/generation").asText());
            assertTrue(err.toString().contains("undrained, but"), err::toString);
        }
    }

    /** It said "undrained" of one that its backend's drain still keeps from new connections. */
    @Test
    void anUndrainedEndpointIsShownAsItIsThen() throws IOException {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.tagged("DELETE " + ENDPOINT + "/drain", 204, 14)
                    .on("GET " + ENDPOINT, 200, Views.endpoint("a", "draining", 3, 9));

            assertEquals(Exit.OK, ask("undrain", "web/a"), err::toString);
            assertEquals(
                    "web/a: draining, weight 5 (configured: 1), in-flight 3",
                    out.toString().strip());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "drain web/a --mode fast|\"fast\" is not known; write one of wait, graceful, cut",
                "remove web/a --policy fast|\"fast\" is not known; write one of drain, keep, cut",
                "log-level loud|\"loud\" is not known; write one of error, warn, info, debug, trace",
                "completion fish|\"fish\" is not known; write one of bash, zsh",
                "enable web/a --if-generation x|\"x\" is no generation; write the number that `tidegate status` shows",
                "enable web/a --if-generation -1|\"-1\" is no generation; write the number that `tidegate status` shows"
            })
    void aWordThatIsNotKnownIsNamedWithThoseThatAre(String command, String said) {
        assertEquals(Exit.USAGE, ask(command.split(" ")));
        assertTrue(err.toString().contains(said), err::toString);
    }

    private JsonNode json(String line) throws IOException {
        out.getBuffer().setLength(0);
        assertEquals(Exit.OK, ask((line + " --output json").split(" ")), err::toString);
        return new ObjectMapper().readTree(out.toString());
    }

    @Test
    void eventsAreShownALineEach() {
        EventView event = new EventView(
                3,
                Instant.parse("2026-11-29T10:00:00.123456Z"),
                "drain-started",
                "web/a drains\u001b[2J",
                Map.of("backend", "web"));
        String stream = ": hello\n\nid: 3\nevent: drain-started\ndata: " + CannedApi.json(event) + "\n\n";
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.text("GET /v1/events?recent=5", 200, "text/event-stream", stream);
            api.text("GET /v1/events", 200, "text/event-stream", stream + stream);

            assertEquals(Exit.OK, ask("events", "--recent", "5"), err::toString);
            assertEquals("2026-11-29T10:00:00Z  drain-started       web/a drains?[2J\n", out.toString());
            assertEquals("text/event-stream", api.requests().get(0).headers().get("accept"));

            clear();
            assertEquals(Exit.OK, ask("events", "--output", "json"), err::toString);
            assertEquals(2, out.toString().lines().count());
            assertTrue(out.toString().startsWith("{\"id\":3,\"time\":\"2026-11-29T10:00:00.123456Z\""), out::toString);
        }
    }

    @Test
    void aRefusalTellsWhyAndAllProblems() throws IOException {
        Map<String, Object> problem = Map.of(
                "title",
                "Unprocessable Content",
                "status",
                422,
                "detail",
                "the configuration has problems: 2",
                "problems",
                List.of(
                        new ProblemView(
                                "/etc/t.yaml",
                                3,
                                7,
                                "backends.web.balance",
                                "\"best\" is no policy",
                                "write random",
                                "error"),
                        new ProblemView("/etc/more.yaml", 2, 1, "backends.old", "nobody uses it", "", "warning"),
                        new ProblemView(0, 0, "", "the file is odd", "")));
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("POST /v1/reload", 422, problem);

            assertEquals(Exit.FAILED, ask("reload"));
            assertEquals("", out.toString());
            assertEquals("""
                    tidegate: refused: the configuration has problems: 2 (422)
                      /etc/t.yaml:3:7: backends.web.balance: "best" is no policy; write random
                      /etc/more.yaml:2:1: backends.old: warning: nobody uses it
                      the file is odd
                    """, err.toString());

            clear();
            assertEquals(Exit.FAILED, ask("reload", "--output", "json"));
            assertEquals(
                    422,
                    new ObjectMapper().readTree(out.toString()).at("/status").asInt());
        }
    }

    @Test
    void aLongValueIsCutShortInWordsAlone() throws IOException {
        String value = "{endpoints: [" + "a {address: 10.0.0.1:80}, ".repeat(1_000) + "]}";
        Map<String, Object> change =
                Map.of("op", "add", "path", "backends.big", "to", value, "applies", "live", "connections", 0);
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("POST /v1/reload", 200, Map.of("generation", 2, "changes", List.of(change)));

            assertEquals(Exit.OK, ask("reload"), err::toString);
            assertTrue(out.toString().startsWith("+ backends.big: {endpoints: [a {"), out::toString);
            assertTrue(out.toString().length() < 2_200, out::toString);

            assertTrue(json("reload").at("/changes/0/to").asText().endsWith("]}"));
        }
    }

    @Test
    void aRefusalForOneReasonTellsItOnce() throws IOException {
        Map<String, Object> problem = Map.of(
                "title",
                "Unprocessable Content",
                "status",
                422,
                "detail",
                "address: \"10.0.0.1\" has no port; write HOST:PORT",
                "problems",
                List.of(new ProblemView(1, 12, "address", "\"10.0.0.1\" has no port", "write HOST:PORT")));
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("POST /v1/backends/web/endpoints", 422, problem);

            assertEquals(Exit.FAILED, ask("add", "web/x", "10.0.0.1"));
            assertEquals(
                    "tidegate: refused: address: \"10.0.0.1\" has no port; write HOST:PORT (422)\n", err.toString());
        }
    }

    @Test
    void aRefusalForWantOfATokenSaysWhichWasSentOrThatNoneWas() throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "s3cret\n");
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.on("POST /v1/reload", 401, Map.of("title", "Unauthorized"))
                    .on("POST /v1/reload", 401, Map.of("title", "Unauthorized"))
                    .on("POST /v1/reload", 403, Map.of("title", "Forbidden", "detail", "this needs operator"));

            assertEquals(Exit.FAILED, ask("reload"));
            assertTrue(err.toString().contains("(401); no token was sent: give --token-file"), err::toString);
            clear();
            assertEquals(Exit.FAILED, ask("reload", "--token-file", token.toString()));
            assertTrue(err.toString().contains("the token of " + token + " is not known there"), err::toString);
            clear();
            assertEquals(Exit.FAILED, ask("reload", "--token-file", token.toString()));
            assertTrue(
                    err.toString().contains("refused: this needs operator (403); the token of " + token),
                    err::toString);
            assertFalse(err.toString().contains("s3cret"));
        }
    }

    @Test
    void aTokenFileOfTheServerIsAUsageError() throws IOException {
        Path token = Files.writeString(directory.resolve("tokens"), "operator s3cret\n");

        assertEquals(Exit.USAGE, ask("status", "--token-file", token.toString()));
        assertTrue(err.toString().contains("does not hold one bare token"), err::toString);
        assertFalse(err.toString().contains("s3cret"));
        assertEquals(
                Exit.USAGE,
                ask("status", "--token-file", directory.resolve("none").toString()));
    }

    @Test
    void aTokenNeverLeavesTheMachineInClear() throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "s3cret");

        assertEquals(
                Exit.UNAVAILABLE,
                execute("status", "--admin", "http://192.0.2.1:80", "--token-file", token.toString()));
        assertTrue(err.toString().contains("use https"), err::toString);
    }

    @Test
    void aSocketThatIsNotThereIsSaidToBeSo() {
        assertEquals(Exit.UNAVAILABLE, ask("status"));
        assertEquals(
                "tidegate: cannot reach Tidegate at unix:" + directory.resolve("admin.sock")
                        + ": there is no such socket; is it running? Give --admin unix:PATH if it is elsewhere",
                err.toString().strip());
    }

    @Test
    void aSocketThatNobodyListensAtAnyMoreIsSaidToBeSo() throws IOException {
        // Unlike Netty, the JDK leaves the file.
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(directory.resolve("admin.sock")));
        }

        assertEquals(Exit.UNAVAILABLE, ask("status"));
        assertTrue(err.toString().contains("admin.sock: nothing listens there any more"), err::toString);
    }

    @Test
    void whatTakesConnectionsAndNeverAnswersIsGivenUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String address = "http://127.0.0.1:" + silent.getLocalPort();

            assertEquals(Exit.UNAVAILABLE, execute("status", "--admin", address, "--timeout", "200ms"));
            assertEquals(
                    "tidegate: " + address
                            + " does not answer within 200ms; look at its log, or give it longer with --timeout",
                    err.toString().strip());
            clear();
            assertEquals(Exit.UNAVAILABLE, execute("events", "--admin", address, "--timeout", "200ms"));
        }
    }

    @Test
    void whatIsNoAdminApiIsSaidToBeNone() throws IOException {
        try (CannedApi api = CannedApi.onSocket(directory)) {
            api.text("GET /v1/status", 200, "text/html", "<html>");

            assertEquals(Exit.UNAVAILABLE, ask("status"));
            assertTrue(err.toString().contains("not in JSON"), err::toString);
        }
    }

    @Test
    void tcpIsAskedWithItsAuthorityAsHost() {
        try (CannedApi api = CannedApi.onLoopback(null)) {
            api.on("GET /v1/log-level", 200, Map.of("level", "info"));

            assertEquals(Exit.OK, execute("log-level", "--admin", "http://localhost:" + api.port()), err::toString);
            assertEquals(
                    "localhost:" + api.port(), api.requests().get(0).headers().get("host"));
        }
    }

    @Test
    @Tag("slow")
    void tlsIsTrustedOnlyWithTheRightAuthorityAndName() throws Exception {
        Path ca = directory.resolve("ca.pem");
        Path key = directory.resolve("key.pem");
        Tool.Result made = Tool.require("openssl")
                .run(
                        Duration.ofSeconds(20),
                        ("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
                                        + " -addext subjectAltName=DNS:localhost -keyout " + key + " -out " + ca)
                                .split(" "));
        assertEquals(0, made.exit(), made::toString);
        SslContext tls = SslContextBuilder.forServer(ca.toFile(), key.toFile()).build();
        try (CannedApi api = CannedApi.onLoopback(tls)) {
            api.on("GET /v1/log-level", 200, Map.of("level", "info"));
            String address = "https://localhost:" + api.port();

            assertEquals(Exit.OK, execute("log-level", "--admin", address, "--ca", ca.toString()), err::toString);
            assertEquals(Exit.UNAVAILABLE, execute("log-level", "--admin", address));
            assertTrue(err.toString().contains("TLS: "), err::toString);
            assertEquals(
                    Exit.UNAVAILABLE,
                    execute("log-level", "--admin", "https://127.0.0.1:" + api.port(), "--ca", ca.toString()));
            assertEquals(1, api.requests().size());
        }
    }

    @TestFactory
    Stream<DynamicTest> wrongUsageIsRefusedBeforeAnythingIsAsked() {
        return Stream.of(
                        "drain",
                        "drain web --process",
                        "drain web/",
                        "drain web/a --deadline 10",
                        "drain web/a --mode gently",
                        "weight web/a 1001",
                        "weight web 5",
                        "weight web/a",
                        "add web/a",
                        "log-level loud",
                        "close",
                        "close c-1 c-2",
                        "status --admin ftp://x",
                        "status --admin http://localhost:80/path",
                        "status --output xml")
                .map(command -> DynamicTest.dynamicTest(command, () -> {
                    assertEquals(Exit.USAGE, ask(command.split(" ")), () -> out + " " + err);
                }));
    }

    private static Json json(Object view) {
        try {
            return Json.read(CannedApi.json(view).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
