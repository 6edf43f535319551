package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.cli.AdminCurl.Answer;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator does all day, with nothing but curl, to {@code tidegate run} under load. */
class OperateIT {
    /** What the machine may take for anything that is not timed. */
    private static final Duration BOUND = Duration.ofSeconds(60);

    private static final String B1 = "/v1/backends/back/endpoints/b1";

    @TempDir
    Path directory;

    private final ScriptedBackend b1 = named("b1");
    private final ScriptedBackend b2 = named("b2");
    private final ScriptedBackend b3 = named("b3");
    private AdminCurl curl;
    private String frontend;

    @BeforeEach
    void prepare() {
        curl = new AdminCurl(directory.resolve("admin.sock"));
        frontend = "127.0.0.1:" + FreePort.pick();
    }

    @AfterEach
    void closeBackends() {
        b1.close();
        b2.close();
        b3.close();
    }

    private static ScriptedBackend named(String name) {
        return ScriptedBackend.start(
                Scripts.greet(name.getBytes(StandardCharsets.US_ASCII)).then(Scripts.echo()));
    }

    private static String endpoint(String name, ScriptedBackend backend, String more) {
        return "      - {name: " + name + ", address: \"" + backend.hostPort() + "\"" + more + "}\n";
    }

    private String three() {
        return endpoint("b1", b1, "") + endpoint("b2", b2, "") + endpoint("b3", b3, "");
    }

    private String yaml(String frontendsMore, String endpoints) {
        return """
                admin: {listen: "unix:%s"}
                process: {warm-up: off, shutdown: {deadline: 2s, spread: 0s}}
                log: {access: {path: none}}
                frontends:
                  - {name: front, listen: "%s", backend: back}
                %s
                backends:
                  - name: back
                    balance: least-connections
                    endpoints:
                %s""".formatted(directory.resolve("admin.sock"), frontend, frontendsMore, endpoints);
    }

    private TidegateProcess start(String yaml) throws IOException {
        return TidegateProcess.run(directory, yaml).start();
    }

    private void write(String yaml) throws IOException {
        Files.writeString(directory.resolve("tidegate.yaml"), yaml);
    }

    /** Connections toward an endpoint's port that the kernel has as established, from the balancer's side. */
    private static long counted(ScriptedBackend backend) {
        Tool.Result listed =
                Tool.require("ss").run(BOUND, "-tnH", "state", "established", "dport", "=", ":" + backend.port());
        assertEquals(0, listed.exit(), listed::toString);
        return listed.stdout().lines().count();
    }

    /** With nobody on the way, the gauge tells what the kernel has. */
    private void assertInFlightIsWhatTheKernelCounts() {
        Map<String, ScriptedBackend> backends = Map.of("b1", b1, "b2", b2, "b3", b3);
        Await.until("in-flight is what ss counts: " + curl.inFlight(), BOUND, () -> {
            Map<String, Long> gauges = curl.inFlight();
            gauges.forEach((name, value) -> assertTrue(value >= 0, () -> name + " has " + value + " in flight"));
            return gauges.entrySet().stream()
                    .allMatch(gauge -> gauge.getValue() == counted(backends.get(gauge.getKey())));
        });
    }

    private void assertInFlightEndsAt0() {
        Await.until(
                "nothing is in flight any more",
                BOUND,
                () -> curl.inFlight().values().stream().allMatch(value -> value == 0));
    }

    private static String served(TidegateProcess tidegate) throws IOException {
        try (ScriptedClient client = tidegate.connect()) {
            return client.readText(2);
        }
    }

    // ---- drains

    @Test
    void aDrainUnderLoadIsWatchedToItsEndAndTouchesNobodyElse() throws Exception {
        try (TidegateProcess tidegate = start(yaml("", three()));
                PingCrowd crowd = new PingCrowd(tidegate.port())) {
            crowd.join(24, 100); // never quiet: these must be cut
            crowd.join(24, 600_000); // quiet from their first ping on
            assertInFlightIsWhatTheKernelCounts();
            int onB1 = crowd.on("b1").size();
            List<PingCrowd.Client> others = new ArrayList<>(crowd.on("b2"));
            others.addAll(crowd.on("b3"));
            assertTrue(onB1 >= 10 && others.size() >= 20, () -> onB1 + " on b1, others " + others.size());

            long begin = System.nanoTime();
            Answer drain = curl.post(B1 + "/drain", "{\"deadline\": \"5s\", \"spread\": \"2s\"}")
                    .expect(202);
            long picks = curl.endpoint("b1").get("picks").asLong();
            String id = drain.json().get("id").asText();
            assertEquals("/v1/operations/" + id, drain.headers().get("location"));
            assertEquals("running", drain.json().get("state").asText());
            assertEquals(onB1, drain.json().get("total").asInt());
            assertEquals("draining", curl.endpoint("b1").get("state").asText());
            assertFalse(curl.endpoint("b1").get("pickable").asBoolean());

            List<Integer> remaining = new ArrayList<>();
            Await.until("the drain is done", BOUND, () -> {
                JsonNode now = curl.operation(id);
                int left = now.get("remaining").asInt();
                assertTrue(remaining.isEmpty() || left <= last(remaining), () -> left + " remain after " + remaining);
                remaining.add(left);
                curl.inFlight().forEach((name, value) -> assertTrue(value >= 0, () -> name + " has " + value));
                newcomersGoElsewhere(tidegate);
                return now.get("state").asText().equals("done");
            });
            long tookMillis = (System.nanoTime() - begin) / 1_000_000;

            JsonNode done = curl.operation(id);
            System.out.println("drain of " + onB1 + " connections with deadline 5s took " + tookMillis + " ms: " + done
                    + ", remaining " + remaining);
            assertEquals(0, done.get("remaining").asInt());
            assertTrue(done.get("retired").asInt() > 0, done::toString);
            assertTrue(done.get("cut").asInt() > 0, done::toString);
            assertEquals(onB1, done.get("retired").asInt() + done.get("cut").asInt(), done::toString);
            assertTrue(remaining.stream().distinct().count() > 2, () -> "it did not spread: " + remaining);
            assertEquals(picks, curl.endpoint("b1").get("picks").asLong());
            assertEquals(0, curl.endpoint("b1").get("in_flight").asInt());

            assertEquals(
                    others.size(),
                    others.stream().filter(client -> !client.gone()).count());
            assertInFlightIsWhatTheKernelCounts();
            assertEquals(List.of(), crowd.faults());
            crowd.leave();
            assertInFlightEndsAt0();
        }
    }

    private static int last(List<Integer> numbers) {
        return numbers.get(numbers.size() - 1);
    }

    private static void newcomersGoElsewhere(TidegateProcess tidegate) {
        try {
            String name = served(tidegate);
            assertFalse(name.equals("b1"), "a drained endpoint was picked");
        } catch (IOException e) {
            throw new AssertionError("a new connection failed during the drain", e);
        }
    }

    @Test
    void afterAnUndrainHalfWayNobodyLeavesWhoWasNotToldTo() throws Exception {
        try (TidegateProcess tidegate = start(yaml("", endpoint("b1", b1, "")));
                PingCrowd crowd = new PingCrowd(tidegate.port())) {
            crowd.join(30, 600_000); // quiet, and sooner or later told
            crowd.join(10, 100); // busy to the deadline
            Duration deadline = Duration.ofSeconds(8);
            long begin = System.nanoTime();
            String id = curl.post(B1 + "/drain", "{\"deadline\": \"8s\", \"spread\": \"6s\"}")
                    .expect(202)
                    .json()
                    .get("id")
                    .asText();
            Await.until("many have left, and most have not", BOUND, () -> {
                return curl.operation(id).get("remaining").asInt() <= 28;
            });
            curl.call("DELETE", B1 + "/drain", null).expect(204);

            JsonNode cancelled = curl.operation(id);
            assertEquals("cancelled", cancelled.get("state").asText());
            assertEquals(0, cancelled.get("cut").asInt());
            JsonNode open = curl.look("/v1/connections?limit=1000");
            List<String> staying = new ArrayList<>();
            for (JsonNode connection : open.get("items")) {
                if (connection
                        .get("state")
                        .asText()
                        .equals("relaying")) { // others were told, and their ends are under way
                    assertTrue(connection.get("retiring").isNull(), connection::toString);
                    staying.add(connection.get("id").asText());
                }
            }
            assertTrue(staying.size() >= 10, cancelled::toString);

            // As long as the drain would have gone on, and a while more.
            Duration past = deadline.plusSeconds(2);
            Await.until("the drain's deadline is long over", BOUND, () -> System.nanoTime() - begin > past.toNanos());
            List<String> stayed = new ArrayList<>();
            curl.look("/v1/connections?limit=1000")
                    .get("items")
                    .forEach(connection -> stayed.add(connection.get("id").asText()));
            System.out.println("undrained with " + staying.size() + " of 40 left: " + stayed.size() + " stayed");
            assertTrue(stayed.containsAll(staying), () -> "told to stay: " + staying + ", stayed: " + stayed);
            assertEquals("b1", served(tidegate));
            assertInFlightIsWhatTheKernelCounts();
            assertEquals(List.of(), crowd.faults());
            crowd.leave();
            assertInFlightEndsAt0();
        }
    }

    // ---- endpoints, weights, reloads

    @Test
    void removingReaddingWeighingAndReloadingAllHappenUnderConnectionsThatGoOn() throws Exception {
        String two = endpoint("b1", b1, "") + endpoint("b2", b2, "");
        try (TidegateProcess tidegate = start(yaml("", two));
                PingCrowd crowd = new PingCrowd(tidegate.port())) {
            crowd.join(12, 50);
            assertInFlightIsWhatTheKernelCounts();

            // Nothing changes by a dry run, nor by a write that is about an older generation.
            long generation = curl.generation();
            JsonNode trial =
                    curl.call("DELETE", B1 + "?dryRun=true", null).expect(200).json();
            assertEquals("remove", trial.at("/changes/0/op").asText());
            assertEquals(
                    crowd.on("b1").size(), trial.at("/changes/0/connections").asInt());
            Answer stale = curl.call("PUT", B1 + "/weight", "{\"weight\": 7}", "If-Match: \"" + (generation + 5) + "\"")
                    .expect(412);
            assertEquals("application/problem+json", stale.headers().get("content-type"));
            assertEquals(generation, curl.generation());
            assertEquals(1, curl.endpoint("b1").at("/weight/effective").asInt());

            // A weight of 0 takes no new connections; what is open stays.
            Answer weighed = curl.call("PUT", B1 + "/weight", "{\"weight\": 0}", "If-Match: \"" + generation + "\"")
                    .expect(200);
            assertEquals(0, weighed.json().at("/weight/runtime").asInt());
            assertEquals("\"" + (generation + 1) + "\"", weighed.headers().get("etag"));
            for (int i = 0; i < 5; i++) {
                assertEquals("b2", served(tidegate));
            }
            assertEquals(12, crowd.present().size());

            // Removed with its connections kept, and added again as it was: the same counts go on.
            long onB1 = crowd.on("b1").size();
            curl.call("DELETE", B1 + "?policy=keep", null).expect(204);
            curl.get(B1).expect(404);
            assertFalse(curl.inFlight().containsKey("b1"), "the series of a removed endpoint stays");
            assertEquals(12, crowd.present().size());
            Answer added = curl.post(
                            "/v1/backends/back/endpoints", "{\"name\": \"b1\", \"address\": \"" + b1.hostPort() + "\"}")
                    .expect(201);
            assertEquals(B1, added.headers().get("location"));
            assertEquals(onB1, curl.endpoint("b1").get("in_flight").asLong());
            assertInFlightIsWhatTheKernelCounts();

            // The file changes: by the API first, by HUP then.
            write(yaml("", three()));
            JsonNode wouldBe =
                    curl.post("/v1/reload?dryRun=true", null).expect(200).json();
            assertEquals(
                    "backends.back.endpoints.b3", wouldBe.at("/changes/0/path").asText());
            curl.get("/v1/backends/back/endpoints/b3").expect(404);
            JsonNode diff = curl.post("/v1/reload", null).expect(200).json();
            assertEquals("add", diff.at("/changes/0/op").asText());
            assertEquals(curl.generation(), diff.get("generation").asLong());
            Await.until("b3 is picked", BOUND, () -> servedNow(tidegate).equals("b3"));
            write(yaml("", three().replace(b2.hostPort() + "\"", b2.hostPort() + "\", weight: 9")));
            tidegate.signal("HUP");
            Await.until(
                    "the file's weight is in force",
                    BOUND,
                    () -> curl.endpoint("b2").at("/weight/effective").asInt() == 9);

            assertEquals(12, crowd.present().size());
            assertEquals(List.of(), crowd.faults());
            crowd.present().forEach(client -> assertTrue(client.pings() > 0));
            assertInFlightIsWhatTheKernelCounts();
            crowd.leave();
            assertInFlightEndsAt0();
        }
    }

    private static String servedNow(TidegateProcess tidegate) {
        try {
            return served(tidegate);
        } catch (IOException e) {
            throw new AssertionError("a new connection failed", e);
        }
    }

    @Test
    void aReloadThatCannotBeTellsWhyAndChangesNothing() throws Exception {
        try (TidegateProcess tidegate = start(yaml("", three()));
                PingCrowd crowd = new PingCrowd(tidegate.port());
                ServerSocket busy = new ServerSocket(0)) {
            crowd.join(6, 100);
            JsonNode config = curl.look("/v1/config");
            long generation = curl.generation();

            write(yaml("", three().replace("name: b2", "weight: -1"))
                    .replace("backend: back", "backend: bakc")
                    .replace("log:", "lgo:"));
            for (String path : List.of("/v1/reload?dryRun=true", "/v1/reload")) {
                Answer refused = curl.post(path, null).expect(422);
                assertEquals("application/problem+json", refused.headers().get("content-type"));
                JsonNode problems = refused.json().get("problems");
                assertEquals(3, problems.size(), refused::toString);
                for (JsonNode problem : problems) {
                    assertTrue(Files.exists(Path.of(problem.get("file").asText())), problem::toString);
                    assertTrue(problem.get("line").asInt() > 0, problem::toString);
                    assertFalse(problem.get("path").asText().isEmpty(), problem::toString);
                }
            }

            String more = "  - {name: more, listen: \"127.0.0.1:" + busy.getLocalPort() + "\", backend: back}";
            write(yaml(more, endpoint("b1", b1, ", weight: 5")));
            Answer taken = curl.post("/v1/reload", null).expect(409);
            assertTrue(taken.body().contains(String.valueOf(busy.getLocalPort())), taken::toString);
            assertTrue(taken.body().contains("nothing changed"), taken::toString);

            assertEquals(config, curl.look("/v1/config"));
            assertEquals(generation, curl.generation());
            assertEquals(3, curl.look("/v1/backends/back").get("endpoints").size());
            assertEquals(6, crowd.present().size());
            assertEquals(List.of(), crowd.faults());
        }
    }

    @Test
    void twentyReloadsAskedForAtOnceMergeAndAllAreAnswered() throws Exception {
        try (TidegateProcess tidegate = start(yaml("", three()));
                PingCrowd crowd = new PingCrowd(tidegate.port())) {
            crowd.join(6, 100);
            write(yaml("", three().replace(b1.hostPort() + "\"", b1.hostPort() + "\", weight: 4")));
            ExecutorService operators = Executors.newFixedThreadPool(20);
            try {
                Callable<Answer> reload = () -> curl.post("/v1/reload", null);
                int changed = 0;
                for (Future<Answer> each : operators.invokeAll(Collections.nCopies(20, reload))) {
                    Answer answer =
                            each.get(BOUND.toSeconds(), TimeUnit.SECONDS).expect(200);
                    assertEquals(2, answer.json().get("generation").asInt(), answer::toString);
                    changed += answer.json().get("changes").size() > 0 ? 1 : 0;
                }
                assertTrue(changed > 0, "nobody was told of the change");
            } finally {
                operators.shutdownNow();
            }
            JsonNode reloads = curl.look("/v1/status").get("reloads");
            System.out.println("20 reloads asked for at once: " + reloads);
            assertEquals(1, reloads.get("applied").asInt());
            assertEquals(0, reloads.get("rejected").asInt());
            assertTrue(reloads.get("unchanged").asInt() <= 19, reloads::toString);
            assertEquals(4, curl.endpoint("b1").at("/weight/effective").asInt());
            assertEquals(6, crowd.present().size());
        }
    }

    // ---- restarts

    @Test
    void aRestartKeepsDrainsAndWeights() throws Exception {
        try (TidegateProcess first = start(yaml("", three()))) {
            curl.post(B1 + "/drain", "{}").expect(202);
            curl.call("PUT", "/v1/backends/back/endpoints/b2/weight", "{\"weight\": 0}")
                    .expect(200);
            first.signal("TERM");
            assertEquals(0, first.awaitExit());
        }
        try (TidegateProcess second = start(yaml("", three()))) {
            second.awaitErr("in force from before the restart");
            assertEquals("draining", curl.endpoint("b1").get("state").asText());
            assertEquals(0, curl.endpoint("b2").at("/weight/runtime").asInt());
            assertEquals(1, curl.endpoint("b2").at("/weight/configured").asInt());
            for (int i = 0; i < 5; i++) {
                assertEquals("b3", served(second));
            }
            curl.call("DELETE", B1 + "/drain", null).expect(204);
            Await.until("b1 is picked again", BOUND, () -> servedNow(second).equals("b1"));
        }
    }

    @Test
    void aRestartWithNobodyToServeSaysSo() throws Exception {
        try (TidegateProcess first = start(yaml("", three()))) {
            curl.post("/v1/backends/back/drain", "{}").expect(202);
            curl.call("PUT", "/v1/backends/back/endpoints/b2/weight", "{\"weight\": 7}")
                    .expect(200);
            first.signal("TERM");
            assertEquals(0, first.awaitExit());
        }
        try (TidegateProcess second = start(yaml("", three()))) {
            second.awaitErr("in force from before the restart: backend back draining; endpoint back/127.0.0.1:");
            second.awaitErr(" weight 7 (the file says 1)");
            second.awaitErr("can serve nobody: every endpoint of backend back is drained");
            assertEquals(503, curl.get("/readyz").status());
            curl.call("DELETE", "/v1/backends/back/drain", null).expect(204);
            served(second);
        }
    }

    @Test
    void aTornStateFileDoesNotStopAStart() throws Exception {
        try (TidegateProcess first = start(yaml("", three()))) {
            curl.post(B1 + "/drain", "{}").expect(202);
            first.signal("TERM");
            assertEquals(0, first.awaitExit());
        }
        Path state = directory.resolve("state").resolve("runtime.json");
        byte[] whole = Files.readAllBytes(state);
        Files.write(state, Arrays.copyOf(whole, whole.length * 2 / 3));
        try (TidegateProcess second = start(yaml("", three()))) {
            second.awaitErr("runtime state is lost");
            assertEquals("ready", curl.endpoint("b1").get("state").asText());
            assertEquals(2, served(second).length());
            curl.post(B1 + "/drain", "{}").expect(202); // and is kept again
            second.signal("TERM");
            assertEquals(0, second.awaitExit());
        }
        try (TidegateProcess third = start(yaml("", three()))) {
            third.awaitErr("in force from before the restart");
            assertEquals("draining", curl.endpoint("b1").get("state").asText());
        }
    }
}
