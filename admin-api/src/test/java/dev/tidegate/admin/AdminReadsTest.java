package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.admin.command.ConnectionFilter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the calls that change nothing answer. */
final class AdminReadsTest {
    private TestServer server;

    @BeforeEach
    void start(@TempDir Path directory) throws IOException {
        server = new TestServer(directory);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Asker.Answered get(String target) throws IOException {
        return server.as(TestServer.VIEWER).get(target);
    }

    @Test
    void viewsAreShownInSnakeCaseWithTimesAsRfc3339AndNullsAsNull() throws IOException {
        JsonNode status = get("/v1/status").json();

        assertEquals("2026-01-02T03:04:05.678Z", status.get("started").asText());
        assertEquals(1000, status.get("uptime_ms").asLong());
        assertEquals(1000, status.get("max_connections").asInt());
        assertTrue(status.get("config").isNull());
        assertTrue(status.get("ages").get(1).get("le_ms").isNull());
        assertEquals("op-1", status.get("operations").get(0).get("id").asText());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/status",
                "/v1/config",
                "/v1/log-level",
                "/v1/frontends",
                "/v1/frontends/edge",
                "/v1/backends",
                "/v1/backends/web",
                "/v1/backends/web/endpoints",
                "/v1/backends/web/endpoints/a"
            })
    void whatAWriteMayReferToNamesTheGeneration(String target) throws IOException {
        Asker.Answered answered = get(target);

        assertEquals(200, answered.status());
        assertEquals("\"7\"", answered.header("etag"));
        assertEquals("application/json", answered.header("content-type"));
        assertEquals("no-store", answered.header("cache-control"));
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/frontends, edge, 1",
        "/v1/backends, web, 1",
        "/v1/backends/web/endpoints, a, 2",
    })
    void listsHaveItemsAndATotal(String target, String name, int total) throws IOException {
        JsonNode list = get(target).json();

        assertEquals(name, list.get("items").get(0).get("name").asText());
        assertEquals(total, list.get("total").asInt());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/frontends/none",
                "/v1/backends/none",
                "/v1/backends/none/endpoints",
                "/v1/backends/none/endpoints/a",
                "/v1/backends/web/endpoints/none",
                "/v1/operations/none"
            })
    void whatIsNotThereIsNamedAndTheListOfThoseThatAreToo(String target) throws IOException {
        Asker.Answered answered = get(target);

        assertEquals(404, answered.status());
        assertEquals("application/problem+json", answered.header("content-type"));
        String detail = answered.json().get("detail").asText();
        assertTrue(detail.contains("\"none\"") && detail.contains("GET /v1/"), detail);
    }

    @Test
    void aNameMayHaveASlashOrASpaceWhenItIsEncoded() throws IOException {
        String detail = get("/v1/backends/a%2Fb%20c+d").json().get("detail").asText();

        assertTrue(detail.contains("\"a/b c+d\""), detail);
    }

    @Test
    void theConfigurationIsShownAsItIs() throws IOException {
        assertEquals(
                10,
                get("/v1/config")
                        .json()
                        .get("frontends")
                        .get(0)
                        .get("max-connections")
                        .asInt());
    }

    @Test
    void anOperationIsFoundById() throws IOException {
        JsonNode operation = get("/v1/operations/op-1").json();

        assertEquals("2026-01-02T03:04:05Z", operation.get("deadline").asText());
        assertEquals(61_000, operation.get("oldest_age_ms").asLong());
        assertTrue(operation.get("eta_ms").isNull());
        assertEquals(1, get("/v1/operations").json().get("total").asInt());
    }

    @Test
    void connectionsAreFilteredAndCounted() throws IOException {
        JsonNode list = get("/v1/connections").json();
        get("/v1/connections?frontend=edge&backend=web&endpoint=a&limit=1000");

        assertEquals(1, list.get("items").size());
        assertEquals(3, list.get("total").asInt());
        assertEquals(
                List.of(
                        new ConnectionFilter(Optional.empty(), Optional.empty(), Optional.empty(), 100),
                        new ConnectionFilter(Optional.of("edge"), Optional.of("web"), Optional.of("a"), 1000)),
                server.operations.filters);
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/connections?limit=0, limit",
        "/v1/connections?limit=1001, limit",
        "/v1/connections?limit=ten, limit",
        "/v1/connections?limit=-1, limit",
        "/v1/connections?limit=5&limit=6, limit",
        "/v1/connections?front=edge, front",
        "/v1/connections?frontend=, frontend",
        "/v1/events?stats=10ms, stats",
        "/v1/events?stats=1, stats",
        "/v1/events?recent=1001, recent",
        "/v1/status?x=1, x",
        "/readyz?front=edge, front"
    })
    void aQueryThatIsNotUnderstoodIsRefusedAndNamed(String target, String name) throws IOException {
        Asker.Answered answered = get(target);

        assertEquals(400, answered.status());
        assertTrue(answered.json().get("detail").asText().contains(name), answered.body());
    }

    @Test
    void probesIgnoreWhatToolsAddToTheQuery() throws IOException {
        assertEquals(200, get("/livez?verbose=1").status());
        assertEquals(200, get("/metrics?collect=x").status());
    }

    @Test
    void aBodyWithAReadIsRefused() throws IOException {
        assertEquals(
                400, server.as(TestServer.VIEWER).ask("GET", "/v1/status", "{}").status());
    }

    @Test
    @Tag("slow")
    void thePageRunsItsOwnScriptsAndStylesAndNothingElse() throws Exception {
        Asker.Answered answered = server.as("").get("/");

        assertEquals(200, answered.status());
        assertEquals("text/html; charset=utf-8", answered.header("content-type"));
        String policy = answered.header("content-security-policy");
        assertTrue(policy.startsWith("default-src 'none'; script-src 'sha256-"), policy);
        assertFalse(policy.contains("unsafe"), policy);
        for (String element : List.of("script", "style")) {
            for (String content : elements(element, answered.body())) {
                assertTrue(policy.contains("'sha256-" + sha256(content) + "'"), element);
            }
        }
        String withoutNamespaces = answered.body().replace("http://www.w3.org/2000/svg", "");
        assertFalse(withoutNamespaces.contains("http://") || withoutNamespaces.contains("https://"), "outside assets");
        assertFalse(
                Pattern.compile("<[^>]* (style|on[a-z]+)=")
                        .matcher(answered.body())
                        .find(),
                "blocked by the policy");
    }

    private static List<String> elements(String name, String page) {
        List<String> contents = new ArrayList<>();
        Matcher matcher = Pattern.compile("<" + name + "[^>]*>(.*?)</" + name + ">", Pattern.DOTALL)
                .matcher(page);
        while (matcher.find()) {
            contents.add(matcher.group(1));
        }
        assertFalse(contents.isEmpty(), name);
        return contents;
    }

    private static String sha256(String text) throws Exception {
        return Base64.getEncoder()
                .encodeToString(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }
}
