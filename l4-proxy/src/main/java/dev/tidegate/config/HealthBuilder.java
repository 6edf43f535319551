package dev.tidegate.config;

import dev.tidegate.config.HealthConfig.Check;
import dev.tidegate.config.HealthConfig.Step;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Values to the records of health and what belongs to it, once there is no error. Stateless. */
final class HealthBuilder {
    private static final Map<Key<String>, Step.Kind> KINDS = Map.of(
            HealthKeys.SEND, Step.Kind.SEND,
            HealthKeys.SEND_HEX, Step.Kind.SEND_HEX,
            HealthKeys.EXPECT, Step.Kind.EXPECT,
            HealthKeys.EXPECT_HEX, Step.Kind.EXPECT_HEX,
            HealthKeys.EXPECT_REGEX, Step.Kind.EXPECT_REGEX);

    private HealthBuilder() {}

    static HealthConfig health(Values health) {
        Duration interval = health.get(HealthKeys.INTERVAL);
        return new HealthConfig(
                check(health),
                interval,
                health.value(HealthKeys.FAST_INTERVAL).orElse(interval),
                health.get(HealthKeys.TIMEOUT),
                health.get(HealthKeys.JITTER),
                health.get(HealthKeys.RISE),
                health.get(HealthKeys.FALL),
                health.value(HealthKeys.PORT),
                health.value(HealthKeys.ADDRESS),
                health.value(HealthKeys.SOURCE),
                health.get(HealthKeys.INITIAL),
                health.get(HealthKeys.ON_DOWN),
                health.get(HealthKeys.MAX_HOLD_DOWN));
    }

    private static Check check(Values health) {
        return switch (health.get(HealthKeys.TYPE)) {
            case TCP -> new HealthConfig.Tcp(health.get(HealthKeys.CLOSE));
            case SEND_EXPECT ->
                new HealthConfig.SendExpect(
                        health.get(HealthKeys.STEPS).stream()
                                .map(step -> step(step.value()))
                                .toList(),
                        health.value(HealthKeys.NOT_READY));
            case HTTP -> http(health);
            case GRPC -> new HealthConfig.Grpc(health.get(HealthKeys.SERVICE), health.value(HealthKeys.HOST));
            case TLS -> new HealthConfig.Tls(health.value(HealthKeys.SERVER_NAME), health.value(HealthKeys.CA));
            case EXEC -> new HealthConfig.Exec(plain(health.get(HealthKeys.COMMAND)));
        };
    }

    private static Step step(Values step) {
        for (Key<String> key : HealthKeys.STEP) {
            Optional<String> text = step.value(key);
            if (text.isPresent()) {
                return new Step(KINDS.get(key), text.get());
            }
        }
        throw new IllegalStateException("a step does nothing and has no problem");
    }

    private static Check http(Values health) {
        return new HealthConfig.Http(
                health.get(HealthKeys.METHOD),
                health.get(HealthKeys.PATH),
                health.value(HealthKeys.HOST),
                health.value(HealthKeys.HEADERS).map(HealthBuilder::plain).orElse(List.of()),
                health.value(HealthKeys.EXPECT_STATUS).map(HealthBuilder::plain).orElse(HealthConfig.Http.PASSING),
                health.value(HealthKeys.NOT_READY_STATUS)
                        .map(HealthBuilder::plain)
                        .orElse(List.of()),
                health.value(HealthKeys.EXPECT_BODY),
                health.get(HealthKeys.HTTP_VERSION));
    }

    private static <T> List<T> plain(List<Located<T>> values) {
        return values.stream().map(Located::value).toList();
    }

    static OutlierConfig outlier(Values outlier) {
        Duration ejection = outlier.get(HealthKeys.EJECTION);
        return new OutlierConfig(
                outlier.get(HealthKeys.OUTLIER_FAILURES),
                outlier.get(HealthKeys.FAILURE_RATE),
                outlier.get(HealthKeys.MIN_CONNECTIONS),
                outlier.get(HealthKeys.OUTLIER_INTERVAL),
                outlier.get(HealthKeys.FIRST_BYTE),
                ejection,
                outlier.value(HealthKeys.MAX_EJECTION).orElse(maxEjection(ejection)),
                outlier.get(HealthKeys.MAX_EJECTED));
    }

    private static Duration maxEjection(Duration ejection) {
        Duration usual = OutlierConfig.DEFAULT.maxEjection();
        return ejection.compareTo(usual) > 0 ? ejection : usual;
    }

    static BreakerConfig breaker(Values breaker) {
        return new BreakerConfig(
                breaker.get(HealthKeys.BREAKER_FAILURES), breaker.get(HealthKeys.OPEN), breaker.get(HealthKeys.TRIALS));
    }

    static RetryBudgetConfig retryBudget(Values budget) {
        return new RetryBudgetConfig(budget.get(HealthKeys.RATIO), budget.get(HealthKeys.MIN_PER_SECOND));
    }

    static SlowStartConfig slowStart(Values slowStart) {
        return new SlowStartConfig(
                slowStart.get(HealthKeys.WINDOW),
                slowStart.get(HealthKeys.AGGRESSION),
                slowStart.get(HealthKeys.MIN_WEIGHT));
    }

    static PanicConfig panic(Values panic) {
        return new PanicConfig(panic.get(HealthKeys.THRESHOLD), panic.get(HealthKeys.MODE));
    }
}
