package dev.tidegate.config;

import dev.tidegate.config.HealthConfig.StatusRange;
import dev.tidegate.config.HealthConfig.Step;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The part of a {@link ConfigDocument} that is about health. Stateless. */
final class HealthDocument {
    private static final String OFF = "off";

    private HealthDocument() {}

    static void put(BackendConfig backend, Map<String, Object> map) {
        map.put(HealthKeys.HEALTH.name(), orOff(backend.health().map(HealthDocument::health)));
        map.put(HealthKeys.OUTLIER.name(), orOff(backend.outlier().map(HealthDocument::outlier)));
        map.put(HealthKeys.BREAKER.name(), orOff(backend.breaker().map(HealthDocument::breaker)));
        map.put(HealthKeys.RETRY_BUDGET.name(), orOff(backend.retryBudget().map(HealthDocument::retryBudget)));
        map.put(HealthKeys.SLOW_START.name(), orOff(backend.slowStart().map(HealthDocument::slowStart)));
        Map<String, Object> panic = new LinkedHashMap<>();
        panic.put(HealthKeys.THRESHOLD.name(), backend.panic().thresholdPercent() + "%");
        panic.put(HealthKeys.MODE.name(), backend.panic().spread() ? "spread" : "refuse");
        map.put(HealthKeys.PANIC.name(), panic);
    }

    private static Map<String, Object> health(HealthConfig health) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(HealthKeys.TYPE.name(), health.check().type());
        map.put(HealthKeys.INTERVAL.name(), Durations.format(health.interval()));
        map.put(HealthKeys.FAST_INTERVAL.name(), Durations.format(health.fastInterval()));
        map.put(HealthKeys.TIMEOUT.name(), Durations.format(health.timeout()));
        map.put(HealthKeys.JITTER.name(), health.jitterPercent() + "%");
        map.put(HealthKeys.RISE.name(), health.rise());
        map.put(HealthKeys.FALL.name(), health.fall());
        health.port().ifPresent(port -> map.put(HealthKeys.PORT.name(), port));
        health.address().ifPresent(address -> map.put(HealthKeys.ADDRESS.name(), address));
        health.source().ifPresent(source -> map.put(HealthKeys.SOURCE.name(), source));
        map.put(HealthKeys.INITIAL.name(), word(health.initial()));
        map.put(HealthKeys.ON_DOWN.name(), word(health.onDown()));
        map.put(HealthKeys.MAX_HOLD_DOWN.name(), duration(health.maxHoldDown()));
        check(health.check(), map);
        return map;
    }

    private static void check(HealthConfig.Check check, Map<String, Object> map) {
        if (check instanceof HealthConfig.Tcp tcp) {
            map.put(HealthKeys.CLOSE.name(), tcp.reset() ? "reset" : "fin");
        } else if (check instanceof HealthConfig.SendExpect dialogue) {
            map.put(
                    HealthKeys.STEPS.name(),
                    dialogue.steps().stream().map(HealthDocument::step).toList());
            dialogue.notReady().ifPresent(regex -> map.put(HealthKeys.NOT_READY.name(), ConfigDocument.text(regex)));
        } else if (check instanceof HealthConfig.Http http) {
            http(http, map);
        } else if (check instanceof HealthConfig.Grpc grpc) {
            map.put(HealthKeys.SERVICE.name(), ConfigDocument.text(grpc.service()));
            grpc.host().ifPresent(host -> map.put(HealthKeys.HOST.name(), host));
        } else if (check instanceof HealthConfig.Tls tls) {
            tls.serverName().ifPresent(name -> map.put(HealthKeys.SERVER_NAME.name(), name));
            tls.ca().ifPresent(path -> map.put(HealthKeys.CA.name(), ConfigDocument.text(path)));
        } else if (check instanceof HealthConfig.Exec exec) {
            map.put(
                    HealthKeys.COMMAND.name(),
                    exec.command().stream().map(ConfigDocument::text).toList());
        }
    }

    private static Map<String, String> step(Step step) {
        return Map.of(word(step.kind()), ConfigDocument.text(step.text()));
    }

    private static void http(HealthConfig.Http http, Map<String, Object> map) {
        map.put(HealthKeys.METHOD.name(), ConfigDocument.text(http.method()));
        map.put(HealthKeys.PATH.name(), ConfigDocument.text(http.path()));
        http.host().ifPresent(host -> map.put(HealthKeys.HOST.name(), host));
        if (!http.headers().isEmpty()) {
            map.put(
                    HealthKeys.HEADERS.name(),
                    http.headers().stream().map(ConfigDocument::text).toList());
        }
        map.put(HealthKeys.EXPECT_STATUS.name(), statuses(http.expectStatus()));
        if (!http.notReadyStatus().isEmpty()) {
            map.put(HealthKeys.NOT_READY_STATUS.name(), statuses(http.notReadyStatus()));
        }
        http.expectBody().ifPresent(regex -> map.put(HealthKeys.EXPECT_BODY.name(), ConfigDocument.text(regex)));
        map.put(HealthKeys.HTTP_VERSION.name(), http.http2() ? "h2c" : "1.1");
    }

    private static List<String> statuses(List<StatusRange> statuses) {
        return statuses.stream().map(StatusRange::toString).toList();
    }

    private static Map<String, Object> outlier(OutlierConfig outlier) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(HealthKeys.OUTLIER_FAILURES.name(), outlier.consecutiveFailures());
        map.put(
                HealthKeys.FAILURE_RATE.name(),
                outlier.failureRatePercent().map(rate -> rate + "%").orElse(OFF));
        map.put(HealthKeys.MIN_CONNECTIONS.name(), outlier.minConnections());
        map.put(HealthKeys.OUTLIER_INTERVAL.name(), Durations.format(outlier.interval()));
        map.put(HealthKeys.FIRST_BYTE.name(), duration(outlier.firstByte()));
        map.put(HealthKeys.EJECTION.name(), Durations.format(outlier.ejection()));
        map.put(HealthKeys.MAX_EJECTION.name(), Durations.format(outlier.maxEjection()));
        map.put(HealthKeys.MAX_EJECTED.name(), outlier.maxEjectedPercent() + "%");
        return map;
    }

    private static Map<String, Object> breaker(BreakerConfig breaker) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(HealthKeys.BREAKER_FAILURES.name(), breaker.consecutiveFailures());
        map.put(HealthKeys.OPEN.name(), Durations.format(breaker.open()));
        map.put(HealthKeys.TRIALS.name(), breaker.trials());
        return map;
    }

    private static Map<String, Object> retryBudget(RetryBudgetConfig budget) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(HealthKeys.RATIO.name(), budget.ratioPercent() + "%");
        map.put(HealthKeys.MIN_PER_SECOND.name(), budget.minPerSecond());
        return map;
    }

    private static Map<String, Object> slowStart(SlowStartConfig slowStart) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(HealthKeys.WINDOW.name(), Durations.format(slowStart.window()));
        map.put(HealthKeys.AGGRESSION.name(), slowStart.aggression());
        map.put(HealthKeys.MIN_WEIGHT.name(), slowStart.minWeightPercent() + "%");
        return map;
    }

    private static Object orOff(Optional<Map<String, Object>> section) {
        return section.isPresent() ? (Object) section.get() : OFF;
    }

    private static String duration(Optional<Duration> duration) {
        return duration.map(Durations::format).orElse(OFF);
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
