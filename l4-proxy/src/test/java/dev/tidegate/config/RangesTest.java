package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every number and duration at the ends of its documented range. */
final class RangesTest {
    private record Edge(
            String path, String below, String least, String greatest, String above, Function<Config, Object> value) {}

    static Stream<Edge> edges() {
        return Stream.of(
                new Edge(
                        "process.workers",
                        "0",
                        "1",
                        "256",
                        "257",
                        c -> c.process().workers()),
                new Edge(
                        "process.max-connections",
                        "0",
                        "1",
                        "10000000",
                        "10000001",
                        c -> c.process().maxConnections()),
                new Edge(
                        "process.warm-up",
                        "9ms",
                        "10ms",
                        "2s",
                        "2001ms",
                        c -> c.process().warmUp()),
                new Edge(
                        "process.shutdown.deadline",
                        "9ms",
                        "10ms",
                        "7d",
                        "604800001ms",
                        c -> c.process().shutdown().deadline()),
                new Edge(
                        "process.shutdown.spread",
                        "-1ms",
                        "0s",
                        "7d",
                        "604800001ms",
                        c -> c.process().shutdown().spread()),
                new Edge(
                        "process.shutdown.lame-duck",
                        "-1ms",
                        "0s",
                        "1h",
                        "3600001ms",
                        c -> c.process().shutdown().lameDuck()),
                new Edge(
                        "frontends[].max-connections",
                        "0",
                        "1",
                        "10000000",
                        "10000001",
                        c -> c.frontends().get(0).maxConnections()),
                new Edge(
                        "frontends[].timeouts.idle",
                        "9ms",
                        "10ms",
                        "365d",
                        "366d",
                        c -> timeouts(c).idle()),
                new Edge(
                        "frontends[].timeouts.half-closed",
                        "9ms",
                        "10ms",
                        "365d",
                        "366d",
                        c -> timeouts(c).halfClosed()),
                new Edge(
                        "frontends[].timeouts.unacked",
                        "9ms",
                        "10ms",
                        "24d",
                        "25d",
                        c -> timeouts(c).unacked()),
                new Edge(
                        "frontends[].lifetime.max-age",
                        "9ms",
                        "10ms",
                        "365d",
                        "366d",
                        c -> lifetime(c).maxAge()),
                new Edge(
                        "frontends[].lifetime.jitter",
                        "-1%",
                        "0%",
                        "100%",
                        "101%",
                        c -> lifetime(c).jitterPercent() + "%"),
                new Edge(
                        "frontends[].lifetime.max-requests",
                        "0",
                        "1",
                        "100000000",
                        "100000001",
                        c -> lifetime(c).maxRequests()),
                new Edge(
                        "frontends[].lifetime.max-bytes",
                        "0B",
                        "1B",
                        "1024TiB",
                        "1025TiB",
                        c -> Sizes.format(lifetime(c).maxBytes().orElseThrow())),
                new Edge(
                        "frontends[].lifetime.grace",
                        "-1ms",
                        "0s",
                        "365d",
                        "366d",
                        c -> lifetime(c).grace()),
                new Edge(
                        "frontends[].lifetime.quiet",
                        "9ms",
                        "10ms",
                        "1h",
                        "3600001ms",
                        c -> lifetime(c).quiet()),
                new Edge(
                        "frontends[].lifetime.linger",
                        "9ms",
                        "10ms",
                        "5m",
                        "300001ms",
                        c -> lifetime(c).linger()),
                new Edge(
                        "backends[].endpoints[].weight",
                        "-1",
                        "0",
                        "1000",
                        "1001",
                        c -> endpoint(c).weight()),
                new Edge(
                        "backends[].endpoints[].max-connections",
                        "0",
                        "1",
                        "10000000",
                        "10000001",
                        c -> endpoint(c).maxConnections()),
                new Edge(
                        "backends[].connect.timeout",
                        "9ms",
                        "10ms",
                        "5m",
                        "300001ms",
                        c -> connect(c).timeout()),
                new Edge(
                        "backends[].connect.attempts",
                        "0",
                        "1",
                        "10",
                        "11",
                        c -> connect(c).attempts()),
                new Edge(
                        "backends[].connect.deadline",
                        "9ms",
                        "10ms",
                        "1h",
                        "3600001ms",
                        c -> connect(c).deadline()),
                new Edge(
                        "backends[].rebalance.spread",
                        "-1s",
                        "0s",
                        "7d",
                        "8d",
                        c -> c.backends().get(0).rebalance().spread()),
                new Edge(
                        "backends[].rebalance.max-share",
                        "99%",
                        "100%",
                        "1000%",
                        "1001%",
                        c -> c.backends().get(0).rebalance().maxSharePercent() + "%"),
                new Edge(
                        "backends[].health.interval",
                        "99ms",
                        "100ms",
                        "1h",
                        "3600001ms",
                        c -> health(c).interval()),
                new Edge(
                        "backends[].health.fast-interval",
                        "49ms",
                        "50ms",
                        "1h",
                        "3600001ms",
                        c -> health(c).fastInterval()),
                new Edge(
                        "backends[].health.timeout",
                        "9ms",
                        "10ms",
                        "10m",
                        "600001ms",
                        c -> health(c).timeout()),
                new Edge(
                        "backends[].health.jitter",
                        "-1%",
                        "0%",
                        "50%",
                        "51%",
                        c -> health(c).jitterPercent() + "%"),
                new Edge(
                        "backends[].health.rise",
                        "0",
                        "1",
                        "100",
                        "101",
                        c -> health(c).rise()),
                new Edge(
                        "backends[].health.fall",
                        "0",
                        "1",
                        "100",
                        "101",
                        c -> health(c).fall()),
                new Edge(
                        "backends[].health.max-hold-down",
                        "999ms",
                        "1s",
                        "1d",
                        "86400001ms",
                        c -> health(c).maxHoldDown()),
                new Edge(
                        "backends[].outlier.consecutive-failures",
                        "0",
                        "1",
                        "1000",
                        "1001",
                        c -> outlier(c).consecutiveFailures()),
                new Edge(
                        "backends[].outlier.failure-rate",
                        "0%",
                        "1%",
                        "100%",
                        "101%",
                        c -> outlier(c).failureRatePercent().orElseThrow() + "%"),
                new Edge(
                        "backends[].outlier.min-connections",
                        "0",
                        "1",
                        "1000000",
                        "1000001",
                        c -> outlier(c).minConnections()),
                new Edge(
                        "backends[].outlier.interval",
                        "999ms",
                        "1s",
                        "1h",
                        "3600001ms",
                        c -> outlier(c).interval()),
                new Edge(
                        "backends[].outlier.first-byte",
                        "9ms",
                        "10ms",
                        "1h",
                        "3600001ms",
                        c -> outlier(c).firstByte()),
                new Edge(
                        "backends[].outlier.ejection",
                        "99ms",
                        "100ms",
                        "1d",
                        "86400001ms",
                        c -> outlier(c).ejection()),
                new Edge(
                        "backends[].outlier.max-ejection",
                        "99ms",
                        "100ms",
                        "1d",
                        "86400001ms",
                        c -> outlier(c).maxEjection()),
                new Edge(
                        "backends[].outlier.max-ejected",
                        "-1%",
                        "0%",
                        "100%",
                        "101%",
                        c -> outlier(c).maxEjectedPercent() + "%"),
                new Edge(
                        "backends[].breaker.consecutive-failures",
                        "0",
                        "1",
                        "1000",
                        "1001",
                        c -> breaker(c).consecutiveFailures()),
                new Edge(
                        "backends[].breaker.open",
                        "99ms",
                        "100ms",
                        "1h",
                        "3600001ms",
                        c -> breaker(c).open()),
                new Edge(
                        "backends[].breaker.trials",
                        "0",
                        "1",
                        "1000",
                        "1001",
                        c -> breaker(c).trials()),
                new Edge(
                        "backends[].retry-budget.ratio",
                        "-1%",
                        "0%",
                        "1000%",
                        "1001%",
                        c -> budget(c).ratioPercent() + "%"),
                new Edge(
                        "backends[].retry-budget.min-per-second",
                        "-1",
                        "0",
                        "1000000",
                        "1000001",
                        c -> budget(c).minPerSecond()),
                new Edge(
                        "backends[].slow-start.window",
                        "999ms",
                        "1s",
                        "1h",
                        "3600001ms",
                        c -> slowStart(c).window()),
                new Edge(
                        "backends[].slow-start.min-weight",
                        "0%",
                        "1%",
                        "100%",
                        "101%",
                        c -> slowStart(c).minWeightPercent() + "%"),
                new Edge(
                        "backends[].panic.threshold",
                        "-1%",
                        "0%",
                        "100%",
                        "101%",
                        c -> c.backends().get(0).panic().thresholdPercent() + "%"));
    }

    private static HealthConfig health(Config config) {
        return config.backends().get(0).health().orElseThrow();
    }

    private static OutlierConfig outlier(Config config) {
        return config.backends().get(0).outlier().orElseThrow();
    }

    private static BreakerConfig breaker(Config config) {
        return config.backends().get(0).breaker().orElseThrow();
    }

    private static RetryBudgetConfig budget(Config config) {
        return config.backends().get(0).retryBudget().orElseThrow();
    }

    private static SlowStartConfig slowStart(Config config) {
        return config.backends().get(0).slowStart().orElseThrow();
    }

    private static TimeoutsConfig timeouts(Config config) {
        return config.frontends().get(0).timeouts();
    }

    private static LifetimeConfig lifetime(Config config) {
        return config.frontends().get(0).lifetime();
    }

    private static EndpointConfig endpoint(Config config) {
        return config.backends().get(0).endpoints().get(0);
    }

    private static ConnectConfig connect(Config config) {
        return config.backends().get(0).connect();
    }

    @Test
    void everyKeyWithAUnitIsHere() {
        Set<String> tested = edges().map(Edge::path).collect(Collectors.toSet());
        Set<String> known = ConfigKeys.all().stream()
                .filter(place -> !place.key().type().unit().isEmpty())
                .map(ConfigKeys.Place::path)
                .collect(Collectors.toSet());
        assertEquals(known, tested);
    }

    // https://github.com/sysown/proxysql/issues/2224: the documented maximum of a timeout acted as 0 ms.
    @ParameterizedTest
    @MethodSource("edges")
    void theDocumentedLimitsTrulyWorkAndOneBeyondIsRefused(Edge edge) {
        assertTrue(shown(edge, edge.least()).contains(written(edge.least())), shown(edge, edge.least()));
        assertTrue(shown(edge, edge.greatest()).contains(written(edge.greatest())), shown(edge, edge.greatest()));
        assertRefused(edge.path(), edge.below());
        assertRefused(edge.path(), edge.above());
    }

    // https://github.com/haproxy/haproxy/issues/109: timeouts wrapped when long and became 0 when short, silently.
    @ParameterizedTest
    @MethodSource("edges")
    void aValueThatIsNotExactlyUnderstoodIsRefused(Edge edge) {
        for (String value : List.of(
                "0.4ms",
                "-1",
                "1e9",
                "9223372036854775807ms",
                "99999999999999999999d",
                "10 s",
                "10S",
                "\"\"",
                "2^31",
                "4294967296",
                "18446744073709551616",
                "1.0",
                ".inf",
                ".nan",
                "0x7fffffff")) {
            assertRefused(edge.path(), value);
        }
    }

    @Test
    void aMonthIsExactWhereItFits() {
        assertEquals(
                "Optional[PT720H]",
                shown("frontends[].timeouts.idle", "30d", c -> timeouts(c).idle()));
        assertRefused("frontends[].timeouts.unacked", "30d");
        assertRefused("frontends[].timeouts.idle", "10");
    }

    @Test
    void offIsNoLimitOfALifetime() {
        assertEquals(
                "Optional.empty",
                shown("frontends[].lifetime.max-age", "off", c -> lifetime(c).maxAge()));
        assertEquals(
                "OptionalInt.empty",
                shown(
                        "frontends[].lifetime.max-requests",
                        "off",
                        c -> lifetime(c).maxRequests()));
        assertEquals(
                "OptionalLong.empty",
                shown("frontends[].lifetime.max-bytes", "off", c -> lifetime(c).maxBytes()));
        assertRefused("frontends[].lifetime.grace", "off");
        assertRefused("frontends[].lifetime.quiet", "off");
        assertRefused("frontends[].lifetime.linger", "off");
    }

    @Test
    void offSwitchesATimeoutOffAndNothingElse() {
        assertEquals(
                "Optional.empty",
                shown("frontends[].timeouts.idle", "off", c -> timeouts(c).idle()));
        assertEquals(
                "Optional.empty",
                shown("frontends[].timeouts.unacked", "off", c -> timeouts(c).unacked()));
        assertRefused("backends[].connect.timeout", "off");
        assertRefused("frontends[].timeouts.idle", "false");
        assertRefused("frontends[].timeouts.idle", "Off");
        assertEquals(
                "Optional.empty",
                shown("backends[].health.max-hold-down", "off", c -> health(c).maxHoldDown()));
        assertEquals(
                "Optional.empty",
                shown("backends[].outlier.failure-rate", "off", c -> outlier(c).failureRatePercent()));
        assertEquals(
                "Optional.empty",
                shown("backends[].outlier.first-byte", "off", c -> outlier(c).firstByte()));
        assertRefused("backends[].health.timeout", "off");
        assertRefused("backends[].outlier.ejection", "off");
    }

    /** A configuration in which the key may take any value of its range. */
    private static ConfigText around(String path) {
        ConfigText text = ConfigText.valid();
        if (path.startsWith("backends[].health.")) {
            text.with("backends[].health.type", "tcp").with("backends[].health.interval", "1h");
        }
        if (path.equals("backends[].outlier.max-ejection")) {
            text.with("backends[].outlier.ejection", "100ms");
        }
        return text;
    }

    private static String shown(Edge edge, String value) {
        return shown(edge.path(), value, edge.value());
    }

    private static String shown(String path, String value, Function<Config, Object> read) {
        ConfigText text = around(path);
        if (path.equals("process.shutdown.spread") || path.equals("process.shutdown.lame-duck")) {
            text.with("process.shutdown.deadline", "7d");
        }
        ConfigResult result = text.with(path, value).read();
        return result.config()
                .map(config -> read.apply(config).toString())
                .orElseThrow(() -> new AssertionError(path + ": " + value + " was refused: " + result.problems()));
    }

    /** How the record shows the value: durations as the JDK writes them. */
    private static String written(String value) {
        char last = value.charAt(value.length() - 1);
        return Character.isDigit(last) || last == '%' || last == 'B'
                ? value
                : Durations.parse(value).toString();
    }

    private static void assertRefused(String path, String value) {
        ConfigResult result = around(path).with(path, value).read();
        assertTrue(result.config().isEmpty(), () -> path + ": " + value + " was accepted");
        String key = path.substring(path.lastIndexOf('.') + 1) + ": ";
        assertTrue(
                result.problems().stream()
                        .allMatch(problem -> problem.toString().contains(key)),
                () -> path + ": " + value + ": " + result.problems());
    }
}
