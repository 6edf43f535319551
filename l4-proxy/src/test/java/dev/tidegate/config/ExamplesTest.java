package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The shipped examples and the reference page, which must never part from the code. */
final class ExamplesTest {
    private static final Path EXAMPLES = Path.of("..", "examples");
    private static final Path REFERENCE = Path.of("..", "docs", "configuration.md");
    private static final String BEGIN = "<!-- keys: begin (generated, checked by a test) -->\n";
    private static final String END = "<!-- keys: end -->\n";

    static List<Path> examples() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void everyExampleIsReadWithoutAProblem(Path example) {
        ConfigResult result = ConfigReader.read(example, ConfigText.NO_ENV);
        assertEquals(List.of(), ConfigText.lines(result));
        assertTrue(result.config().isPresent());
    }

    @ParameterizedTest
    @MethodSource("examples")
    void everyExampleFitsTheJsonSchema(Path example) throws IOException {
        assertEquals(List.of(), SchemaCheck.misfits(schema(), json(Files.readString(example))));
    }

    @Test
    void theSchemaRefusesWhatTheReaderRefuses() throws IOException {
        for (ConfigText text : List.of(
                ConfigText.valid().with("proces", "1"),
                ConfigText.valid().with("process.workers", "0"),
                ConfigText.valid().with("process.workers", "two"),
                ConfigText.valid().with("process.transport", "uring"),
                ConfigText.valid().with("frontends[].listen", "[]"),
                ConfigText.valid().with("frontends[].timeouts.idle", "10"),
                ConfigText.valid().with("frontends[].lifetime.max-age", "10"),
                ConfigText.valid().with("frontends[].lifetime.jitter", "20"),
                ConfigText.valid().with("frontends[].lifetime.max-requests", "0"),
                ConfigText.valid().with("frontends[].lifetime.max-bytes", "10GB"),
                ConfigText.valid().with("frontends[].protocol", "http"),
                ConfigText.valid().with("frontends[].name", "a b"),
                ConfigText.valid().with("backends[].rebalance.on-join", "yes"),
                ConfigText.valid().with("backends[].rebalance.max-share", "110"),
                ConfigText.valid().with("backends[].health.interval", "1s"),
                health("udp"),
                health("tcp").with("backends[].health.port", "0"),
                health("tcp").with("backends[].health.jitter", "10"),
                health("send-expect").with("backends[].health.steps", "[]"),
                health("send-expect").with("backends[].health.steps[].send-hex", "\"0\""),
                health("send-expect").with("backends[].health.steps[].receive", "a"),
                health("http").with("backends[].health.expect-status", "[99]"),
                health("http").with("backends[].health.expect-status", "600"),
                health("http").with("backends[].health.expect-status", "5xx"),
                health("http").with("backends[].health.http-version", "2"),
                health("exec").with("backends[].health.command", "[" + "/x, ".repeat(101) + "]"),
                ConfigText.valid().with("backends[].outlier", "true"),
                ConfigText.valid().with("backends[].outlier.failure-rate", "0.5"),
                ConfigText.valid().with("backends[].breaker.open", "10"),
                ConfigText.valid().with("backends[].retry-budget.rate", "20%"),
                ConfigText.valid().with("backends[].slow-start.aggression", "0.05"),
                ConfigText.valid().with("backends[].slow-start.aggression", "10.5"),
                ConfigText.valid().with("backends[].panic.mode", "off"),
                ConfigText.valid().with("backends[].connect.attempts", "11"))) {
            assertTrue(text.read().config().isEmpty(), text::toString);
            assertFalse(SchemaCheck.misfits(schema(), json(text.toString())).isEmpty(), text::toString);
        }
    }

    private static ConfigText health(String type) {
        return ConfigText.valid().with("backends[].health.type", type);
    }

    @Test
    void theSchemaTakesWhatTheReaderTakes() throws IOException {
        for (ConfigText text : List.of(
                health("http").with("backends[].health.http-version", "1.1"),
                health("http").with("backends[].health.http-version", "\"1.1\""),
                health("http").with("backends[].health.expect-status", "204"),
                health("http").with("backends[].health.expect-status", "[200-299, 304, \"401\"]"),
                health("http").with("backends[].health.headers", "\"A: b\""),
                health("grpc").with("backends[].health.service", "\"\""),
                ConfigText.valid().with("backends[].outlier", "off"),
                ConfigText.valid().with("backends[].outlier", "{}"),
                ConfigText.valid().with("backends[].breaker", "{}"),
                ConfigText.valid().with("backends[].slow-start.aggression", "2"),
                ConfigText.valid().with("backends[].slow-start.aggression", "0.1"))) {
            assertEquals(List.of(), ConfigText.lines(text.read()), text::toString);
            assertEquals(List.of(), SchemaCheck.misfits(schema(), json(text.toString())), text::toString);
        }
    }

    @Test
    void theSchemaTakesAVariableForAnyValue() throws IOException {
        String yaml = ConfigText.valid()
                .with("process.workers", "\"${W:-1}\"")
                .with("frontends[].name", "\"a-${N:-b}\"")
                .with("frontends[].timeouts.idle", "\"${I:-5m}\"")
                .with("frontends[].protocol", "\"${P:-tcp}\"")
                .with("frontends[].lifetime.max-age", "\"${A:-off}\"")
                .with("frontends[].lifetime.jitter", "\"${J:-10%}\"")
                .with("frontends[].lifetime.max-requests", "\"${R:-off}\"")
                .with("frontends[].lifetime.max-bytes", "\"${B:-1GiB}\"")
                .with("backends[].rebalance.on-join", "\"${O:-true}\"")
                .with("backends[].health.type", "\"${T:-http}\"")
                .with("backends[].health.port", "\"${Q:-8081}\"")
                .with("backends[].health.expect-status", "[\"${S:-204}\"]")
                .with("backends[].health.http-version", "\"${V:-1.1}\"")
                .with("backends[].outlier.failure-rate", "\"${F:-off}\"")
                .with("backends[].breaker", "\"${K:-off}\"")
                .with("backends[].slow-start.aggression", "\"${G:-1.5}\"")
                .toString();
        assertEquals(List.of(), ConfigText.lines(ConfigText.read(yaml)));
        assertEquals(List.of(), SchemaCheck.misfits(schema(), json(yaml)));
    }

    @Test
    void theFullExampleHasEveryKeyThereIs() throws IOException {
        Set<String> known = new TreeSet<>();
        ConfigKeys.all().forEach(place -> known.add(place.path()));
        Set<String> used = new TreeSet<>();
        collectPaths(json(Files.readString(EXAMPLES.resolve("full.yaml"))), "", used);
        assertEquals(known, used);
    }

    @Test
    void theReferenceTableIsTheGeneratedOne() throws IOException {
        String page = Files.readString(REFERENCE);
        int begin = page.indexOf(BEGIN);
        int end = page.indexOf(END);
        assertTrue(begin >= 0 && end > begin, "the markers are missing in " + REFERENCE);
        assertEquals(ConfigSchema.markdownTable(), page.substring(begin + BEGIN.length(), end));
    }

    @Test
    void thePageShowsEveryTypeOfCheckAndEachIsRead() throws IOException {
        Set<String> shown = Pattern.compile("(?ms)^```yaml\n(health:.*?)^```$")
                .matcher(Files.readString(REFERENCE))
                .results()
                .map(block -> "frontends: [{name: edge, listen: \"127.0.0.1:1\", backend: web}]\n"
                        + "backends:\n  - name: web\n    endpoints: [{address: \"10.0.0.1:80\"}]\n"
                        + block.group(1).indent(4))
                .map(yaml -> {
                    ConfigResult result = ConfigText.read(yaml);
                    assertEquals(List.of(), ConfigText.lines(result), yaml);
                    return result.config().orElseThrow().backends().get(0).health();
                })
                .map(health -> health.orElseThrow().check().type())
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(CheckType.words().keySet()), shown);
    }

    private static void collectPaths(JsonNode node, String prefix, Set<String> into) {
        node.properties().forEach(entry -> {
            String path = prefix + entry.getKey();
            into.add(path);
            if (entry.getValue().isArray()) {
                entry.getValue().forEach(element -> collectPaths(element, path + "[].", into));
            } else {
                collectPaths(entry.getValue(), path + ".", into);
            }
        });
    }

    private static JsonNode schema() throws IOException {
        return new ObjectMapper().readTree(ConfigSchema.json());
    }

    private static JsonNode json(String yaml) {
        Object loaded = new Load(LoadSettings.builder().build()).loadFromString(yaml);
        return new ObjectMapper().valueToTree(loaded);
    }

    /** As much of JSON Schema as ours uses; any other keyword fails the test rather than being passed over. */
    private static final class SchemaCheck {
        private static final List<String> NOTES =
                List.of("$schema", "$defs", "title", "description", "default", "properties");

        private final JsonNode root;
        private final List<String> misfits = new ArrayList<>();

        private SchemaCheck(JsonNode root) {
            this.root = root;
        }

        static List<String> misfits(JsonNode schema, JsonNode value) {
            SchemaCheck check = new SchemaCheck(schema);
            check.check(schema, value, "");
            return check.misfits;
        }

        private void check(JsonNode schema, JsonNode value, String path) {
            schema.properties().forEach(rule -> {
                if (!NOTES.contains(rule.getKey()) && !fits(rule.getKey(), rule.getValue(), schema, value, path)) {
                    misfits.add(path + ": " + value + " does not fit " + rule);
                }
            });
            schema.path("properties").properties().forEach(property -> {
                if (value.has(property.getKey())) {
                    check(property.getValue(), value.get(property.getKey()), path + "/" + property.getKey());
                }
            });
        }

        private boolean fits(String rule, JsonNode wanted, JsonNode schema, JsonNode value, String path) {
            return switch (rule) {
                case "$ref" ->
                    new SchemaCheck(root).accepts(root.at(wanted.asText().substring(1)), value);
                case "type" -> isOfType(wanted.asText(), value);
                case "additionalProperties" -> !value.isObject() || hasOnly(schema.get("properties"), value);
                case "required" -> !value.isObject() || hasAll(wanted, value);
                case "items" -> {
                    value.forEach(item -> check(wanted, item, path + "/[]"));
                    yield true;
                }
                case "maxItems" -> !value.isArray() || value.size() <= wanted.asInt();
                case "minItems" -> !value.isArray() || value.size() >= wanted.asInt();
                case "anyOf" -> anyAccepts(wanted, value);
                case "enum" -> anyEquals(wanted, value);
                case "const" -> wanted.equals(value);
                case "pattern" ->
                    !value.isTextual()
                            || Pattern.compile(wanted.asText())
                                    .matcher(value.asText())
                                    .find();
                case "minimum" -> !value.isNumber() || value.asDouble() >= wanted.asDouble();
                case "maximum" -> !value.isNumber() || value.asDouble() <= wanted.asDouble();
                default -> throw new AssertionError("the schema uses " + rule + ", which this test does not know");
            };
        }

        private boolean accepts(JsonNode schema, JsonNode value) {
            SchemaCheck inner = new SchemaCheck(root);
            inner.check(schema, value, "");
            return inner.misfits.isEmpty();
        }

        private boolean anyAccepts(JsonNode schemas, JsonNode value) {
            boolean any = false;
            for (JsonNode schema : schemas) {
                any |= accepts(schema, value);
            }
            return any;
        }

        private static boolean anyEquals(JsonNode values, JsonNode value) {
            boolean any = false;
            for (JsonNode each : values) {
                any |= each.equals(value);
            }
            return any;
        }

        private static boolean hasOnly(JsonNode properties, JsonNode value) {
            return value.properties().stream().allMatch(property -> properties.has(property.getKey()));
        }

        private static boolean hasAll(JsonNode names, JsonNode value) {
            boolean all = true;
            for (JsonNode name : names) {
                all &= value.has(name.asText());
            }
            return all;
        }

        private static boolean isOfType(String type, JsonNode value) {
            return switch (type) {
                case "object" -> value.isObject();
                case "array" -> value.isArray();
                case "string" -> value.isTextual();
                case "boolean" -> value.isBoolean();
                case "integer" -> value.isIntegralNumber();
                case "number" -> value.isNumber();
                default -> throw new AssertionError("the schema uses type " + type + ", which this test does not know");
            };
        }
    }
}
