package dev.tidegate.control;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.BreakerConfig;
import dev.tidegate.config.Durations;
import dev.tidegate.config.HealthConfig;
import dev.tidegate.config.HealthConfig.StatusRange;
import dev.tidegate.config.OutlierConfig;
import dev.tidegate.config.RetryBudgetConfig;
import dev.tidegate.config.SlowStartConfig;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A backend's effective values of health and what belongs to it, by group and key. Stateless. */
final class HealthValues {
    static final String NONE = "none";

    private static final String OFF = "off";

    private HealthValues() {}

    /** Each group that may be off with its values, in the order of the reference table. */
    static Map<String, Optional<Map<String, String>>> groups(BackendConfig backend) {
        Map<String, Optional<Map<String, String>>> groups = new LinkedHashMap<>();
        groups.put("health", backend.health().map(HealthValues::health));
        groups.put("outlier", backend.outlier().map(HealthValues::outlier));
        groups.put("breaker", backend.breaker().map(HealthValues::breaker));
        groups.put("retry-budget", backend.retryBudget().map(HealthValues::retryBudget));
        groups.put("slow-start", backend.slowStart().map(HealthValues::slowStart));
        return groups;
    }

    /** What stands for a group that is off. */
    static String off(String group) {
        return group.equals("health") ? NONE : OFF;
    }

    private static Map<String, String> health(HealthConfig health) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("type", health.check().type());
        values.put("interval", Durations.format(health.interval()));
        values.put("fast-interval", Durations.format(health.fastInterval()));
        values.put("timeout", Durations.format(health.timeout()));
        values.put("jitter", health.jitterPercent() + "%");
        values.put("rise", String.valueOf(health.rise()));
        values.put("fall", String.valueOf(health.fall()));
        values.put("port", health.port().map(String::valueOf).orElse(NONE));
        values.put("address", health.address().orElse(NONE));
        values.put("source", health.source().orElse(NONE));
        values.put("initial", word(health.initial()));
        values.put("on-down", word(health.onDown()));
        values.put("max-hold-down", duration(health.maxHoldDown()));
        check(health.check(), values);
        return values;
    }

    private static void check(HealthConfig.Check check, Map<String, String> values) {
        if (check instanceof HealthConfig.Tcp tcp) {
            values.put("close", tcp.reset() ? "reset" : "fin");
        } else if (check instanceof HealthConfig.SendExpect dialogue) {
            values.put("steps", list(dialogue.steps(), step -> word(step.kind()) + " " + quoted(step.text())));
            values.put("not-ready", quoted(dialogue.notReady()));
        } else if (check instanceof HealthConfig.Http http) {
            values.put("method", http.method());
            values.put("path", http.path());
            values.put("host", http.host().orElse(NONE));
            values.put("headers", list(http.headers(), HealthValues::quoted));
            values.put("expect-status", list(http.expectStatus(), StatusRange::toString));
            values.put("not-ready-status", list(http.notReadyStatus(), StatusRange::toString));
            values.put("expect-body", quoted(http.expectBody()));
            values.put("http-version", http.http2() ? "h2c" : "1.1");
        } else if (check instanceof HealthConfig.Grpc grpc) {
            values.put("service", quoted(grpc.service()));
            values.put("host", grpc.host().orElse(NONE));
        } else if (check instanceof HealthConfig.Tls tls) {
            values.put("server-name", tls.serverName().orElse(NONE));
            values.put("ca", tls.ca().orElse(NONE));
        } else if (check instanceof HealthConfig.Exec exec) {
            values.put("command", list(exec.command(), HealthValues::quoted));
        }
    }

    private static Map<String, String> outlier(OutlierConfig outlier) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("consecutive-failures", String.valueOf(outlier.consecutiveFailures()));
        values.put(
                "failure-rate",
                outlier.failureRatePercent().map(rate -> rate + "%").orElse(OFF));
        values.put("min-connections", String.valueOf(outlier.minConnections()));
        values.put("interval", Durations.format(outlier.interval()));
        values.put("first-byte", duration(outlier.firstByte()));
        values.put("ejection", Durations.format(outlier.ejection()));
        values.put("max-ejection", Durations.format(outlier.maxEjection()));
        values.put("max-ejected", outlier.maxEjectedPercent() + "%");
        return values;
    }

    private static Map<String, String> breaker(BreakerConfig breaker) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("consecutive-failures", String.valueOf(breaker.consecutiveFailures()));
        values.put("open", Durations.format(breaker.open()));
        values.put("trials", String.valueOf(breaker.trials()));
        return values;
    }

    private static Map<String, String> retryBudget(RetryBudgetConfig budget) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("ratio", budget.ratioPercent() + "%");
        values.put("min-per-second", String.valueOf(budget.minPerSecond()));
        return values;
    }

    private static Map<String, String> slowStart(SlowStartConfig slowStart) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("window", Durations.format(slowStart.window()));
        values.put("aggression", BigDecimal.valueOf(slowStart.aggression()).toPlainString());
        values.put("min-weight", slowStart.minWeightPercent() + "%");
        return values;
    }

    private static <T> String list(List<T> elements, Function<T, String> words) {
        return elements.isEmpty() ? NONE : elements.stream().map(words).collect(Collectors.joining(", ", "[", "]"));
    }

    private static String quoted(Optional<String> text) {
        return text.map(HealthValues::quoted).orElse(NONE);
    }

    /** In quotes and on one line; two texts are never written alike. */
    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> quoted.append('\\').append(c);
                case '\r' -> quoted.append("\\r");
                case '\n' -> quoted.append("\\n");
                default -> {
                    if (c < ' ' || c > '~') {
                        quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        quoted.append(c);
                    }
                }
            }
        }
        return quoted.append('"').toString();
    }

    private static String duration(Optional<Duration> duration) {
        return duration.map(Durations::format).orElse(OFF);
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
