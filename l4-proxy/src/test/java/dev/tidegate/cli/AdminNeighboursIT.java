package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Fds;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others on the machine may do to the admin API of {@code tidegate run}, and what stays as it was. */
class AdminNeighboursIT {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final int IDLE = 1_000;

    @TempDir
    Path directory;

    private final int port = FreePort.pick();
    private final int adminPort = FreePort.pick();
    private final ScriptedBackend backend = ScriptedBackend.echo();
    private AdminCurl curl;
    private TidegateProcess tidegate;

    @BeforeEach
    void start() throws IOException {
        curl = new AdminCurl(directory.resolve("admin.sock"));
        tidegate = TidegateProcess.run(directory, yaml(1)).start();
    }

    @AfterEach
    void stop() {
        tidegate.close();
        backend.close();
    }

    private String yaml(int weight) {
        return """
                admin: {listen: ["unix:%s", "127.0.0.1:%d"]}
                log: {access: {path: none}}
                process: {warm-up: off}
                frontends:
                  - {name: front, listen: "127.0.0.1:%d", backend: back}
                backends:
                  - {name: back, endpoints: [{name: a, address: "%s", weight: %d}, {name: b, address: "127.0.0.9:1", weight: 0}]}
                """.formatted(directory.resolve("admin.sock"), adminPort, port, backend.hostPort(), weight);
    }

    private void reload(int weight, int status) throws IOException {
        Files.writeString(directory.resolve("tidegate.yaml"), yaml(weight));
        curl.post("/v1/reload", null).expect(status);
    }

    /** Paths of all reads that end by themselves, with names that are there. */
    private List<String> reads() {
        List<String> paths = new ArrayList<>();
        for (Map.Entry<String, JsonNode> path :
                curl.look("/openapi.json").get("paths").properties()) {
            if (path.getValue().has("get") && !path.getKey().equals("/v1/events")) {
                paths.add(path.getKey()
                        .replaceAll("\\{b\\w*}", "back")
                        .replaceAll("\\{e\\w*}", "a")
                        .replaceAll("\\{f\\w*}", "front")
                        .replaceAll("\\{[^}]*}", "op-1"));
            }
        }
        assertTrue(paths.size() > 8, paths::toString);
        return paths;
    }

    private List<JsonNode> whatIsConfigured() {
        return List.of(curl.look("/v1/config"), curl.look("/v1/backends"), curl.look("/v1/operations"));
    }

    /** envoyproxy/envoy#2296: a crawler followed links, and those changed state. */
    @Test
    void aCrawlerChangesNothing() throws IOException {
        curl.post("/v1/backends/back/endpoints/a/drain", "{}").expect(202);
        List<JsonNode> before = whatIsConfigured();
        long generation = curl.generation();
        Path list = directory.resolve("urls");
        StringBuilder urls = new StringBuilder();
        reads().forEach(path ->
                urls.append("http://127.0.0.1:").append(adminPort).append(path).append('\n'));
        Files.writeString(list, urls);

        Path mirror = directory.resolve("mirror");
        Tool.Result crawled = Tool.require("wget")
                .run(
                        BOUND,
                        "--mirror",
                        "--no-verbose",
                        "--execute=robots=off",
                        "--timeout=5",
                        "--tries=1",
                        "--force-html",
                        "--directory-prefix=" + mirror,
                        "--input-file=" + list,
                        "http://127.0.0.1:" + adminPort + "/");

        assertTrue(Files.exists(mirror.resolve("127.0.0.1:" + adminPort + "/index.html")), crawled::toString);
        assertEquals(before, whatIsConfigured());
        assertEquals(generation, curl.generation());
    }

    /** netdata/netdata#3578: idle clients of the admin port took all descriptors. */
    @Test
    void idleClientsOfTheAdminPortLeaveConnectionsAlone() throws IOException {
        InetSocketAddress admin = new InetSocketAddress(InetAddress.getLoopbackAddress(), adminPort);
        List<SocketChannel> idle = new ArrayList<>();
        try (ScriptedClient before = tidegate.connect()) {
            assertEchoes(before);
            int descriptors = Fds.count(tidegate.pid());
            for (int i = 0; i < IDLE; i++) {
                idle.add(SocketChannel.open(admin));
            }

            assertEchoes(before);
            for (int i = 0; i < 20; i++) {
                try (ScriptedClient client = tidegate.connect()) {
                    assertEchoes(client);
                }
            }
            Await.until(
                    "the admin API keeps few of them",
                    BOUND,
                    () -> Fds.count(tidegate.pid()) <= descriptors + IDLE / 5);
            curl.get("/livez").expect(200);
        } finally {
            for (SocketChannel each : idle) {
                each.close();
            }
        }
    }

    private static void assertEchoes(ScriptedClient client) throws IOException {
        client.send("ping");
        assertEquals("ping", client.readText(4));
    }

    /** haproxytech/dataplaneapi#289: after a reload some calls gave errors that they had not given before. */
    @Test
    void everyReadIsAnsweredAfterReloadsAsBefore() throws IOException {
        curl.post("/v1/backends/back/endpoints/b/drain", "{}").expect(202);
        List<String> paths = reads();
        Map<String, String> before = answers(paths);
        paths.forEach(path -> assertTrue(before.get(path).startsWith("200 "), () -> path + ": " + before.get(path)));

        reload(2, 200);
        assertEquals(before, answers(paths));
        reload(-1, 422);
        assertEquals(before, answers(paths));
        reload(3, 200);
        assertEquals(before, answers(paths));
        // And so are writes.
        curl.call("DELETE", "/v1/backends/back/endpoints/b/drain", null).expect(204);
        curl.call("PUT", "/v1/backends/back/endpoints/a/weight", "{\"weight\": 9}")
                .expect(200);
        curl.call("PUT", "/v1/backends/back/endpoints/nope/weight", "{\"weight\": 9}")
                .expect(404);
    }

    /** Status, type and what members there are, of each. */
    private Map<String, String> answers(List<String> paths) {
        Map<String, String> answers = new TreeMap<>();
        for (String path : paths) {
            AdminCurl.Answer answer = curl.get(path);
            String type = answer.headers().get("content-type");
            Set<String> members = new TreeSet<>();
            if (type.equals("application/json")) {
                collect(answer.json(), "", members);
            }
            answers.put(path, answer.status() + " " + type + " " + members);
        }
        return answers;
    }

    private static void collect(JsonNode node, String path, Set<String> into) {
        if (node.isArray()) {
            node.forEach(each -> collect(each, path + "[]", into));
        } else if (node.isObject()) {
            node.properties().forEach(member -> {
                into.add(path + "." + member.getKey());
                collect(member.getValue(), path + "." + member.getKey(), into);
            });
        }
    }
}
