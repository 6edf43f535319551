package dev.tidegate.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Describes every key, for editors and for readers. Stateless; any thread. */
public final class ConfigSchema {
    private static final Set<String> NO_WORDS = Set.of("unlimited", "none");
    private static final Pattern WHOLE = Pattern.compile("[0-9]+");

    private static final Map<String, Key<?>> BY_PATH =
            ConfigKeys.all().stream().collect(Collectors.toMap(ConfigKeys.Place::path, ConfigKeys.Place::key));

    private ConfigSchema() {}

    /**
     * The JSON Schema of the configuration file, draft 2020-12.
     *
     * @return indented JSON, ending in a line feed
     */
    public static String json() {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode schema = mapper.createObjectNode();
        schema.put("$schema", "https://json-schema.org/draft/2020-12/schema");
        schema.put("title", "Tidegate configuration");
        ConfigKeys.ROOT.describe(schema);
        schema.putObject("$defs")
                .putObject("environment")
                .put("type", "string")
                .put("pattern", Environment.PATTERN)
                .put("description", "a value that has ${NAME} or ${NAME:-default} in it");
        try {
            return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(schema) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the schema is a plain tree and can always be written", e);
        }
    }

    /**
     * A key in words.
     *
     * @param path from the root, with {@code []} for lists
     * @param type of its value, in words
     * @param unit of its numbers; may be empty
     * @param whenAbsent what holds then, or "required"
     * @param range the values it takes; may be empty
     * @param meaning what it does
     * @param onReload what a reload does with a changed value, "live" or "restart"; empty for a group of keys
     */
    public record KeyText(
            String path, String type, String unit, String whenAbsent, String range, String meaning, String onReload) {}

    /** Every key in words, a group before its keys. */
    public static List<KeyText> keys() {
        return ConfigKeys.all().stream().map(ConfigSchema::inWords).toList();
    }

    private static KeyText inWords(ConfigKeys.Place place) {
        Key<?> key = place.key();
        boolean defaults = key.fallback().isPresent() && key.fallbackText().isEmpty();
        return new KeyText(
                place.path(),
                key.type().title(),
                key.type().unit(),
                defaults ? "the defaults below" : key.fallbackText(),
                key.type().range(),
                key.meaning(),
                key.type() instanceof Section ? "" : key.onReload());
    }

    /**
     * The reference table of every key.
     *
     * @return Markdown, one row a key, ending in a line feed
     */
    public static String markdownTable() {
        StringBuilder table = new StringBuilder("| key | type | unit | when absent | range | meaning | on reload |\n")
                .append("|---|---|---|---|---|---|---|\n");
        for (KeyText key : keys()) {
            List<String> cells = List.of(
                    "`" + key.path() + "`",
                    key.type(),
                    key.unit(),
                    key.whenAbsent(),
                    key.range(),
                    key.meaning(),
                    key.onReload());
            table.append("| ").append(String.join(" | ", cells)).append(" |\n");
        }
        return table.toString();
    }

    /**
     * Whether a reload applies a changed value of that key; otherwise it takes effect at the next start.
     *
     * @param path the key's path, with {@code []} for lists, as in the reference table
     * @throws IllegalArgumentException if there is no such key
     */
    public static boolean isLive(String path) {
        Key<?> key = BY_PATH.get(path);
        if (key == null) {
            throw new IllegalArgumentException(
                    "key " + Text.quote(path) + " is unknown; there are " + BY_PATH.keySet());
        }
        return key.live();
    }

    /** Writes one key's schema: its type, its default where that is a plain value, and its meaning. */
    static void describe(Key<?> key, ObjectNode schema) {
        String range = key.type().range();
        schema.put("description", key.meaning() + (range.isEmpty() ? "" : " (" + range + ")"));
        key.type().describe(schema);
        if (key.fallback().isPresent() && !(key.type() instanceof Section) && isPlain(key.fallbackText())) {
            if (WHOLE.matcher(key.fallbackText()).matches()) {
                schema.put("default", Integer.parseInt(key.fallbackText()));
            } else if (key.fallback().get() instanceof Double number) {
                schema.put("default", number);
            } else {
                schema.put("default", key.fallbackText());
            }
        }
    }

    /** Whether a default's text could stand in the file: words about it have spaces, and these are no words. */
    private static boolean isPlain(String fallback) {
        return !fallback.isEmpty() && fallback.indexOf(' ') < 0 && !NO_WORDS.contains(fallback);
    }
}
