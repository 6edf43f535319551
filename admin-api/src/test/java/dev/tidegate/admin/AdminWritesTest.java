package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.view.ProblemView;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a write becomes, and how its outcome is answered. */
final class AdminWritesTest {
    private static final String E = "/v1/backends/web/endpoints/a";
    private static final Target.OfEndpoint A = new Target.OfEndpoint("web", "a");

    private TestServer server;

    @BeforeEach
    void start(@TempDir Path directory) throws IOException {
        server = new TestServer(directory);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Asker.Answered ask(String method, String target, String body, String... headers) throws IOException {
        return server.admin().ask(method, target, body, headers);
    }

    private void answering(Outcome outcome) {
        // From another thread, as the real one does.
        server.operations.onExecute = (command, context) -> CompletableFuture.supplyAsync(() -> outcome);
    }

    private static Command.Drain drain(Target target) {
        return new Command.Drain(target, Optional.empty(), Optional.empty(), Optional.empty());
    }

    static Stream<Arguments> everyWrite() {
        Target.OfBackend web = new Target.OfBackend("web");
        Target.OfFrontend edge = new Target.OfFrontend("edge");
        Target whole = new Target.Process();
        String drainBody = "{\"deadline\":\"10m\",\"spread\":\"250ms\",\"mode\":\"cut\"}";
        Command.Drain full = new Command.Drain(
                A,
                Optional.of(Duration.ofMinutes(10)),
                Optional.of(Duration.ofMillis(250)),
                Optional.of(Command.DrainMode.CUT));
        return Stream.of(
                Arguments.of("POST", E + "/drain", "", drain(A)),
                Arguments.of("POST", E + "/drain", "{}", drain(A)),
                Arguments.of("POST", E + "/drain", drainBody, full),
                Arguments.of("DELETE", E + "/drain", "", new Command.Undrain(A)),
                Arguments.of("POST", "/v1/backends/web/drain", "", drain(web)),
                Arguments.of("DELETE", "/v1/backends/web/drain", "", new Command.Undrain(web)),
                Arguments.of("POST", "/v1/frontends/edge/drain", "", drain(edge)),
                Arguments.of("DELETE", "/v1/frontends/edge/drain", "", new Command.Undrain(edge)),
                Arguments.of("POST", "/v1/drain", "", drain(whole)),
                Arguments.of("DELETE", "/v1/drain", "", new Command.Undrain(whole)),
                Arguments.of("POST", E + "/disable", "", new Command.Disable(A)),
                Arguments.of("DELETE", E + "/disable", "", new Command.Enable(A)),
                Arguments.of("PUT", E + "/weight", "{\"weight\":0}", new Command.SetWeight(A, 0)),
                Arguments.of("PUT", E + "/weight", "{\"weight\":1000}", new Command.SetWeight(A, 1000)),
                Arguments.of("DELETE", E + "/weight", "", new Command.ResetWeight(A)),
                Arguments.of(
                        "POST",
                        "/v1/backends/web/endpoints",
                        "{\"name\":\"b\",\"address\":\"10.0.0.1:80\",\"weight\":3,\"max_connections\":9}",
                        new Command.AddEndpoint("web", "b", "10.0.0.1:80", OptionalInt.of(3), OptionalInt.of(9))),
                Arguments.of("DELETE", E, "", new Command.RemoveEndpoint(A, Command.RemovePolicy.DRAIN)),
                Arguments.of(
                        "DELETE", E + "?policy=keep", "", new Command.RemoveEndpoint(A, Command.RemovePolicy.KEEP)),
                Arguments.of("POST", "/v1/backends/web/rebalance", "", new Command.Rebalance("web", Optional.empty())),
                Arguments.of(
                        "POST",
                        "/v1/backends/web/rebalance",
                        "{\"spread\":\"2m\"}",
                        new Command.Rebalance("web", Optional.of(Duration.ofMinutes(2)))),
                Arguments.of(
                        "DELETE",
                        "/v1/connections/0-1",
                        "",
                        new Command.CloseConnection("0-1", Command.CloseMode.GRACEFUL)),
                Arguments.of(
                        "DELETE",
                        "/v1/connections/0-1?mode=abort",
                        "",
                        new Command.CloseConnection("0-1", Command.CloseMode.ABORT)),
                Arguments.of("POST", "/v1/reload", "", new Command.Reload()),
                Arguments.of("POST", "/v1/upgrade", "", new Command.Upgrade()),
                Arguments.of(
                        "PUT",
                        "/v1/log-level",
                        "{\"level\":\"warn\"}",
                        new Command.SetLogLevel(Command.LogLevel.WARN)));
    }

    @ParameterizedTest
    @MethodSource("everyWrite")
    void aCallBecomesOneCommand(String method, String target, String body, Command command) throws IOException {
        Asker.Answered answered = ask(method, target, body);

        assertTrue(answered.status() < 300, answered.toString());
        assertEquals(List.of(command), server.operations.commands);
    }

    @ParameterizedTest
    @MethodSource("everyWrite")
    @Tag("slow")
    void aDryRunAnswersTheDifferenceAndIsTold(String method, String target, String body) throws IOException {
        String dry = target + (target.contains("?") ? "&" : "?") + "dryRun=true";

        Asker.Answered answered = ask(method, dry, body);

        assertEquals(200, answered.status());
        assertEquals(
                "backends.web.endpoints.a.weight",
                answered.json().get("changes").get(0).get("path").asText());
        assertTrue(server.operations.contexts.get(0).dryRun());
        assertNull(answered.header("location"));
    }

    @Test
    void whatHasBegunIsAnsweredWithWhereToWatchIt() throws IOException {
        answering(new Outcome.Started(8, FakeOperations.CHANGES, FakeOperations.OPERATION));

        Asker.Answered answered = ask("POST", E + "/drain", "");

        assertEquals(202, answered.status());
        assertEquals("/v1/operations/op-1", answered.header("location"));
        assertEquals("\"8\"", answered.header("etag"));
        assertEquals("op-1", answered.json().get("id").asText());
        assertEquals(4, answered.json().get("remaining").asInt());
    }

    @Test
    void whatIsDoneIsAnsweredWithHowItIsNowOrWithNothing() throws IOException {
        Asker.Answered nothing = ask("DELETE", E + "/drain", "");
        answering(new Outcome.Done(
                8, FakeOperations.CHANGES, server.operations.backends().get(0)));
        Asker.Answered thing = ask("POST", E + "/disable", "");

        assertEquals(204, nothing.status());
        assertEquals("", nothing.body());
        assertNull(nothing.header("content-type"));
        assertNull(nothing.header("content-length"));
        assertEquals("\"8\"", nothing.header("etag"));
        assertEquals(200, thing.status());
        assertEquals("web", thing.json().get("name").asText());
    }

    @Test
    void anAddedEndpointIsCreatedAndSaidWhere() throws IOException {
        answering(new Outcome.Done(
                8, FakeOperations.CHANGES, server.operations.backends().get(0)));

        Asker.Answered answered =
                ask("POST", "/v1/backends/web/endpoints", "{\"name\":\"b c\",\"address\":\"127.0.0.1:81\"}");

        assertEquals(201, answered.status());
        assertEquals("/v1/backends/web/endpoints/b%20c", answered.header("location"));
    }

    @Test
    void theLevelIsAnsweredEvenWhenNothingIsSaid() throws IOException {
        assertEquals(
                "{\"level\":\"debug\"}\n",
                ask("PUT", "/v1/log-level", "{\"level\":\"debug\"}").body());
    }

    @ParameterizedTest
    @CsvSource({"NOT_FOUND, 404", "CONFLICT, 409", "STALE, 412", "INVALID, 422", "UNAVAILABLE, 503"})
    void whyItWasRefusedIsTheStatus(Outcome.Why why, int status) throws IOException {
        answering(new Outcome.Refused(why, "because", List.of()));

        Asker.Answered answered = ask("POST", "/v1/reload", "");

        assertEquals(status, answered.status());
        assertEquals("application/problem+json", answered.header("content-type"));
        assertEquals("because", answered.json().get("detail").asText());
        assertEquals(status, answered.json().get("status").asInt());
        assertEquals("about:blank", answered.json().get("type").asText());
    }

    @Test
    void problemsOfAConfigurationAreListedOneByOne() throws IOException {
        answering(new Outcome.Refused(
                Outcome.Why.INVALID,
                "the configuration has 1 problem",
                List.of(new ProblemView(3, 5, "backends.web.balance", "is wrong", "write random"))));

        JsonNode problem = ask("POST", "/v1/reload", "").json().get("problems").get(0);

        assertEquals(
                "{\"line\":3,\"column\":5,\"path\":\"backends.web.balance\",\"message\":\"is wrong\",\"hint\":\"write random\"}",
                problem.toString());
    }

    @Test
    void aFaultInsideIsAProblemWithoutDetails() throws IOException {
        server.operations.onExecute = (command, context) -> CompletableFuture.supplyAsync(() -> {
            throw new IllegalStateException("secret");
        });
        Asker.Answered later = ask("POST", "/v1/reload", "");
        server.operations.onExecute = (command, context) -> {
            throw new IllegalStateException("secret");
        };
        Asker.Answered atOnce = ask("POST", "/v1/reload", "");

        for (Asker.Answered answered : List.of(later, atOnce)) {
            assertEquals(500, answered.status());
            assertFalse(answered.body().contains("secret"), answered.body());
        }
    }

    @ParameterizedTest
    @CsvSource({"'\"7\"', 7", "7, 7", "' \"0\" ', 0", "*, -1", "'', -1"})
    void ifMatchIsTheGenerationThatWasSeen(String header, long seen) throws IOException {
        String[] headers = header.isEmpty() ? new String[0] : new String[] {"If-Match: " + header};

        ask("POST", "/v1/reload", "", headers);

        OptionalLong expected = seen < 0 ? OptionalLong.empty() : OptionalLong.of(seen);
        assertEquals(expected, server.operations.contexts.get(0).ifGeneration());
        assertTrue(server.operations.contexts.get(0).actor().startsWith("admin 127.0.0.1:"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "If-Match: \"7",
                "If-Match: W/\"7\"",
                "If-Match: \"7\", \"8\"",
                "If-Match: -1",
                "If-Match: x",
                "If-Match: 99999999999999999999",
                "If-Match: 7\r\nIf-Match: 8",
                "If-Match: "
            })
    void aMalformedIfMatchIsRefused(String header) throws IOException {
        assertEquals(400, ask("POST", "/v1/reload", "", header).status());
        assertEquals(List.of(), server.operations.commands);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"deadline\":10}|deadline|10 is not taken",
                "{\"deadline\":\"10\"}|deadline|\"10\" is not taken",
                "{\"deadline\":\"10 m\"}|deadline|\"10 m\" is not taken",
                "{\"deadline\":\"-1s\"}|deadline|\"-1s\" is not taken",
                "{\"deadline\":\"1.5s\"}|deadline|\"1.5s\" is not taken",
                "{\"deadline\":\"999999999999d\"}|deadline|\"999999999999d\" is not taken",
                "{\"deadline\":null}|deadline|null is not taken",
                "{\"deadline\":true}|deadline|true is not taken",
                "{\"deadline\":{\"a\":[1,{}]}}|deadline|an object is not taken",
                "{\"deadline\":[\"10m\"]}|deadline|a list is not taken",
                "{\"deadline\":\"1m\",\"deadline\":\"2m\"}|deadline|is there twice",
                "{\"dead-line\":\"1m\"}|dead-line|is not known here",
                "{\"mode\":\"CUT\"}|mode|\"CUT\" is not taken",
                "{\"deadline\":\"1s\",\"spread\":\"2s\"}|spread|2s is longer than the deadline, 1s"
            })
    void aMemberThatIsWrongIsNamedWithItsValueAndWhatWouldBeRight(String body, String path, String message)
            throws IOException {
        Asker.Answered answered = ask("POST", E + "/drain", body);

        assertEquals(422, answered.status(), answered.body());
        JsonNode problem = answered.json().get("problems").get(0);
        assertEquals(path, problem.get("path").asText());
        assertEquals(message, problem.get("message").asText());
        assertFalse(problem.get("hint").asText().isEmpty());
        assertEquals(List.of(), server.operations.commands);
    }

    @Test
    @Tag("slow")
    void allThatIsWrongIsToldAtOnceWithItsPlace() throws IOException {
        JsonNode problems = ask(
                        "POST",
                        "/v1/backends/web/endpoints",
                        "{\n  \"name\": 5,\n  \"weight\": 1001, \"x\": 1,\n  \"max_connections\": 1.5\n}")
                .json()
                .get("problems");

        assertEquals(
                "[2:11 name, 3:13 weight, 3:19 x, 4:22 max_connections, 0:0 address]",
                Stream.iterate(0, i -> i < problems.size(), i -> i + 1)
                        .map(problems::get)
                        .map(problem -> problem.get("line") + ":" + problem.get("column") + " "
                                + problem.get("path").asText())
                        .toList()
                        .toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x",
                "[]",
                "\"\"",
                "5",
                "null",
                "{",
                "{\"mode\":\"wait\"",
                "{} {}",
                "{}x",
                "{,}",
                "{'mode':'wait'}",
                "{\"mode\":NaN}",
                "/**/{}",
                "{\"mode\":\"wait\",}",
                "{\"mode\":\"\u0001\"}",
                " "
            })
    void whatIsNoJsonObjectIsABadRequest(String body) throws IOException {
        Asker.Answered answered = ask("POST", E + "/drain", body);

        assertEquals(400, answered.status(), answered.body());
        assertTrue(answered.json().get("detail").asText().startsWith("the body "), answered.body());
        assertEquals(List.of(), server.operations.commands);
    }

    @Test
    void whatIsRequiredIsAskedForEvenWithoutABody() throws IOException {
        assertEquals(422, ask("PUT", E + "/weight", "").status());
        assertEquals(422, ask("PUT", E + "/weight", "{}").status());
        assertEquals(422, ask("POST", "/v1/reload", "{\"x\":1}").status());
        assertEquals(List.of(), server.operations.commands);
    }

    // caddyserver/caddy#6357: which weights there are was told only by trying; sysown/proxysql#2224: limits that wrap.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "-1",
                "1001",
                "1e9",
                "1e1",
                "2147483648",
                "4294967297",
                "18446744073709551617",
                "0.5",
                "1.0",
                "\"5\"",
                "null",
                "true",
                "[1]"
            })
    @Tag("slow")
    void aWeightIsAWholeNumberUpToAThousand(String weight) throws IOException {
        Asker.Answered answered = ask("PUT", E + "/weight", "{\"weight\":" + weight + "}");

        assertEquals(422, answered.status(), answered.body());
        assertEquals(
                "weight", answered.json().get("problems").get(0).get("path").asText());
        assertEquals(List.of(), server.operations.commands);
    }

    // yetanotherco/aligned_layer#1274: a port without limits.
    @Test
    void jsonThatIsDeepOrHasAHugeNameIsRefusedEarly() throws IOException {
        for (String body : List.of(
                "{\"deadline\":" + "[".repeat(500_000),
                "{\"deadline\":" + "{\"a\":".repeat(100_000),
                "{\"" + "x".repeat(1_000_000) + "\":1}",
                "{\"weight\":" + "9".repeat(1_000_000) + "}")) {
            Asker.Answered answered = ask("POST", E + "/drain", body);

            assertTrue(answered.status() == 400 || answered.status() == 422, () -> String.valueOf(answered.status()));
            assertTrue(answered.body().length() < 10_000, () -> answered.body().length() + " characters");
        }
        assertEquals(
                413,
                ask("POST", E + "/drain", "{\"" + "x".repeat(10_000_000) + "\":1}")
                        .status());
        assertEquals(List.of(), server.operations.commands);
        assertEquals(200, ask("GET", "/v1/status", "").status());
    }

    // A web form can send text/plain to anywhere; only a page that was let in can send this.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Type: text/plain",
                "Content-Type: application/x-www-form-urlencoded",
                "Content-Type: application/json; charset=latin1",
                "X-Content-Type: none"
            })
    void aBodyOfAnotherTypeIsRefused(String header) throws IOException {
        assertEquals(415, ask("POST", E + "/drain", "{}", header).status());
        assertEquals(List.of(), server.operations.commands);
    }

    @Test
    void aBodyInChunksIsAskedForAndRead() throws IOException {
        try (RawClient client = new RawClient(server.address())) {
            client.send(server.admin()
                    .request(
                            "PUT",
                            E + "/weight",
                            "",
                            "Content-Type: application/json; charset=UTF-8",
                            "Transfer-Encoding: chunked",
                            "Expect: 100-continue"));
            assertEquals("HTTP/1.1 100 Continue\r\n\r\n", client.readUntil("\r\n\r\n"));
            client.send("8\r\n{\"weight\r\n5\r\n\": 5}\r\n0\r\n\r\n");

            assertTrue(client.readToEnd().startsWith("HTTP/1.1 204 "));
            assertEquals(List.of(new Command.SetWeight(A, 5)), server.operations.commands);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"policy=DRAIN", "policy=", "mode=abort", "dryRun=yes", "dryRun=true&dryRun=false", "dryrun=true"
            })
    void aQueryThatIsNotUnderstoodChangesNothing(String query) throws IOException {
        assertEquals(400, ask("DELETE", E + "?" + query, "").status());
        assertEquals(List.of(), server.operations.commands);
    }

    @Test
    void answersComeInTheOrderOfTheQuestionsHoweverLateTheyAre() throws IOException {
        CompletableFuture<Outcome> first = new CompletableFuture<>();
        server.operations.onExecute = (command, context) -> first;
        try (RawClient client = new RawClient(server.address())) {
            client.send(server.admin().request("POST", "/v1/reload", "").replace("Connection: close\r\n", "")
                    + server.admin().request("GET", "/livez", ""));
            org.awaitility.Awaitility.await().until(() -> server.operations.commands.size() == 1);

            first.complete(new Outcome.Done(8, List.of(), null));

            String all = client.readToEnd();
            assertTrue(all.startsWith("HTTP/1.1 204 ") && all.endsWith("live\n"), all);
        }
    }
}
