package dev.tidegate.config;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Configurations for tests: a small valid one in which single keys are set, and short ways to read it. */
final class ConfigText {
    static final UnaryOperator<String> NO_ENV = name -> null;

    private final Map<String, Object> root = new LinkedHashMap<>();

    private ConfigText() {
        set("frontends[].name", "edge");
        set("frontends[].listen", "\"127.0.0.1:8080\"");
        set("frontends[].backend", "web");
        set("backends[].name", "web");
        set("backends[].endpoints[].address", "\"127.0.0.1:8081\"");
    }

    static ConfigText valid() {
        return new ConfigText();
    }

    /** Sets the key at a path as the reference table writes it; a list is its first element. The value is raw YAML. */
    ConfigText with(String path, String value) {
        set(path, value);
        return this;
    }

    private void set(String path, String value) {
        Map<String, Object> at = root;
        String[] steps = path.split("\\.", -1);
        for (int i = 0; i < steps.length - 1; i++) {
            at = child(at, steps[i]);
        }
        at.put(steps[steps.length - 1], value);
    }

    @SuppressWarnings("unchecked") // only this class puts maps there
    private static Map<String, Object> child(Map<String, Object> at, String step) {
        return (Map<String, Object>) at.computeIfAbsent(step, key -> new LinkedHashMap<String, Object>());
    }

    ConfigResult read() {
        return ConfigText.read(toString());
    }

    static ConfigResult read(String yaml) {
        return read(yaml, NO_ENV);
    }

    static ConfigResult read(String yaml, UnaryOperator<String> env) {
        return ConfigReader.readText("t.yaml", yaml.getBytes(StandardCharsets.UTF_8), env);
    }

    static List<String> lines(ConfigResult result) {
        return result.problems().stream().map(Problem::toString).toList();
    }

    /** The problems of a text whose two lists are valid and which begins with these lines. */
    static List<String> problems(String... lines) {
        return lines(read(String.join("\n", lines) + "\n"));
    }

    @Override
    public String toString() {
        return flow(root);
    }

    private static String flow(Map<?, ?> map) {
        List<String> entries = new ArrayList<>();
        map.forEach((key, value) -> {
            String name = key.toString();
            String text = value instanceof Map<?, ?> inner ? flow(inner) : value.toString();
            entries.add(
                    name.endsWith("[]")
                            ? name.substring(0, name.length() - 2) + ": [" + text + "]"
                            : name + ": " + text);
        });
        return "{" + String.join(", ", entries) + "}";
    }
}
