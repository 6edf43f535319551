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
     * The reference table of every key.
     *
     * @return Markdown, one row a key, ending in a line feed
     */
    public static String markdownTable() {
        StringBuilder table = new StringBuilder("| key | type | unit | when absent | range | meaning | on reload |\n")
                .append("|---|---|---|---|---|---|---|\n");
        for (ConfigKeys.Place place : ConfigKeys.all()) {
            Key<?> key = place.key();
            boolean group = key.type() instanceof Section;
            boolean defaults = key.fallback().isPresent() && key.fallbackText().isEmpty();
            List<String> cells = List.of(
                    "`" + place.path() + "`",
                    key.type().title(),
                    key.type().unit(),
                    defaults ? "the defaults below" : key.fallbackText(),
                    key.type().range(),
                    key.meaning(),
                    group ? "" : key.onReload());
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
