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
                ConfigText.valid().with("backends[].connect.attempts", "11"))) {
            assertTrue(text.read().config().isEmpty(), text::toString);
            assertFalse(SchemaCheck.misfits(schema(), json(text.toString())).isEmpty(), text::toString);
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
                case "minItems" -> !value.isArray() || value.size() >= wanted.asInt();
                case "anyOf" -> anyAccepts(wanted, value);
                case "enum" -> anyEquals(wanted, value);
                case "const" -> wanted.equals(value);
                case "pattern" ->
                    !value.isTextual()
                            || java.util.regex.Pattern.compile(wanted.asText())
                                    .matcher(value.asText())
                                    .find();
                case "minimum" -> !value.isNumber() || value.asLong() >= wanted.asLong();
                case "maximum" -> !value.isNumber() || value.asLong() <= wanted.asLong();
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
                default -> throw new AssertionError("the schema uses type " + type + ", which this test does not know");
            };
        }
    }
}
