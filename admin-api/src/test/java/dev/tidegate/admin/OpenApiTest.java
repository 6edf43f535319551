package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.StatsView;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The API's description and the API are one. */
final class OpenApiTest {
    private static final Path COPY = Path.of("..", "docs", "openapi.json");
    private static final String REGENERATE =
            "mvn -pl admin-api -am test -Dtest=OpenApiTest -Dopenapi.write=true -Dsurefire.failIfNoSpecifiedTests=false";

    private final FakeOperations operations = new FakeOperations();
    private final List<Route> routes = Routes.of(operations, Runnable::run, new Scrapes(new FakeOperations()));
    private final JsonNode document;

    OpenApiTest() throws IOException {
        document = Json.MAPPER.readTree(Json.bytes(OpenApi.document(routes)));
    }

    private Set<String> described() {
        Set<String> calls = new TreeSet<>();
        document.get("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .fieldNames()
                        .forEachRemaining(method -> calls.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
        return calls;
    }

    @Test
    void everyRouteIsDescribedAndEveryDescribedCallIsRouted() throws Refusal {
        Set<String> routed = new TreeSet<>();
        routes.forEach(route -> routed.add(route.toString()));
        assertEquals(routed, described());

        Router router = new Router(routes);
        for (String call : described()) {
            String[] parts = call.split(" ", -1);
            String path = parts[1].replaceAll("\\{[a-z]+}", "x");

            Router.Match match = router.match(HttpMethod.valueOf(parts[0]), path);

            assertEquals(call, match.route().toString());
        }
    }

    @Test
    void theServedOneIsThisOne(@TempDir Path directory) throws IOException {
        try (TestServer server = new TestServer(directory)) {
            assertEquals(
                    document, server.as(TestServer.VIEWER).get("/openapi.json").json());
        }
    }

    @Test
    void idsAreUniqueReferencesLeadSomewhereAndEachCallSaysHowItComesOut() {
        Set<String> ids = new TreeSet<>();
        for (Route route : routes) {
            assertTrue(ids.add(route.id()), route.id());
            assertTrue(!route.replies().isEmpty(), route.toString());
        }
        for (JsonNode reference : document.findValues("$ref")) {
            String pointer = reference.asText().substring(1);
            assertTrue(!document.at(pointer).isMissingNode(), reference.asText());
        }
    }

    @Test
    void answersAreAsTheyAreDescribed(@TempDir Path directory) throws IOException {
        try (TestServer server = new TestServer(directory)) {
            for (Route route : routes) {
                if (!route.isWrite() && !route.id().equals("events")) {
                    Asker.Answered answered = server.admin().get(AdminRolesTest.target(route));
                    JsonNode content = document.at("/paths")
                            .get(route.template())
                            .at("/get/responses/" + answered.status() + "/content");
                    String type = answered.header("content-type").split(";", -1)[0];
                    assertTrue(content.has(type), route + " answers " + type);
                    if (type.equals("application/json")) {
                        assertFits(route.toString(), content.get(type).get("schema"), answered.json());
                    }
                }
            }
        }
        assertFits("event", schema("EventView"), Json.MAPPER.valueToTree(FakeOperations.event(1, "x")));
        StatsView stats = new StatsView(
                operations.status().toCompletableFuture().join(), operations.frontends(), operations.backends());
        assertFits("stats", schema("StatsView"), Json.MAPPER.valueToTree(stats));
        assertEquals(5, EventView.class.getRecordComponents().length);
    }

    private JsonNode schema(String name) {
        return document.at("/components/schemas/" + name);
    }

    /** As much of JSON Schema as the description uses. */
    private void assertFits(String where, JsonNode described, JsonNode value) {
        if (described.has("anyOf")) { // a reference, or null
            assertEquals("null", described.at("/anyOf/1/type").asText(), where);
            if (!value.isNull()) {
                assertFits(where, described.at("/anyOf/0"), value);
            }
            return;
        }
        JsonNode schema = described.has("$ref")
                ? document.at(described.get("$ref").asText().substring(1))
                : described;
        assertTrue(types(schema).isEmpty() || types(schema).contains(type(value)), where + ": " + value);
        if (value.isObject()) {
            schema.path("required").forEach(name -> assertTrue(value.has(name.asText()), where + ": no " + name));
            value.properties().forEach(member -> {
                JsonNode known = schema.path("properties").path(member.getKey());
                JsonNode any = schema.path("additionalProperties");
                boolean free = !schema.has("properties") && !schema.has("additionalProperties");
                assertTrue(free || !known.isMissingNode() || any.isObject(), where + ": " + member.getKey());
                if (!free) {
                    assertFits(where + "." + member.getKey(), known.isMissingNode() ? any : known, member.getValue());
                }
            });
        }
        value.elements().forEachRemaining(element -> {
            if (value.isArray()) {
                assertFits(where + "[]", schema.get("items"), element);
            }
        });
    }

    private static List<String> types(JsonNode schema) {
        List<String> types = new ArrayList<>();
        JsonNode type = schema.path("type");
        if (type.isTextual()) {
            types.add(type.asText());
        }
        type.forEach(each -> types.add(each.asText()));
        return types;
    }

    private static String type(JsonNode value) {
        return value.isIntegralNumber() ? "integer" : value.getNodeType().name().toLowerCase(Locale.ROOT);
    }

    @Test
    void theCopyInTheDocumentationIsThisOne() throws IOException {
        ObjectMapper indented = Json.MAPPER.copy().enable(SerializationFeature.INDENT_OUTPUT);
        String text = indented.writeValueAsString(document) + "\n";
        if (Boolean.getBoolean("openapi.write")) {
            Files.writeString(COPY, text);
        }

        assertTrue(
                Files.exists(COPY) && text.equals(Files.readString(COPY)),
                "docs/openapi.json is old; run " + REGENERATE);
    }
}
