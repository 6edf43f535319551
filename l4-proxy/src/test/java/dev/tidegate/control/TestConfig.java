package dev.tidegate.control;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.LogConfig.Level;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Small configurations: one frontend {@code edge}, and backends with the endpoints that a test gives them. */
final class TestConfig {
    private final Map<String, StringBuilder> backends = new LinkedHashMap<>();
    private Level level = Level.INFO;

    TestConfig level(Level wanted) {
        level = wanted;
        return this;
    }

    TestConfig endpoint(String backend, String name, String address, int weight) {
        backends.computeIfAbsent(backend, missing -> new StringBuilder())
                .append("      - {name: %s, address: \"%s\", weight: %d}%n".formatted(name, address, weight));
        return this;
    }

    Config config() {
        StringBuilder yaml = new StringBuilder("log: {level: " + level.name().toLowerCase(Locale.ROOT) + "}\n");
        yaml.append("frontends:\n  - {name: edge, listen: \"127.0.0.1:1\", backend: ")
                .append(backends.keySet().iterator().next())
                .append("}\nbackends:\n");
        backends.forEach((name, endpoints) -> yaml.append("  - name: ")
                .append(name)
                .append("\n    endpoints:\n")
                .append(endpoints));
        ConfigResult result =
                ConfigReader.readText("t.yaml", yaml.toString().getBytes(StandardCharsets.UTF_8), name -> null);
        return result.config().orElseThrow(() -> new AssertionError(result.problems() + "\n" + yaml));
    }
}
