package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The records keep their promises however they are made, not only by the reader. */
final class RecordsTest {
    private static final EndpointAddress ADDRESS = EndpointAddress.parse("10.0.0.1:80");
    private static final ConnectConfig CONNECT =
            new ConnectConfig(Duration.ofSeconds(2), 3, Duration.ofSeconds(5), ConnectConfig.ProxyProtocol.OFF);
    private static final AdminTlsConfig TLS = new AdminTlsConfig("cert.pem", "key.pem", Optional.empty());
    private static final TimeoutsConfig TIMEOUTS =
            new TimeoutsConfig(Optional.empty(), Optional.empty(), Optional.empty());
    private static final LifetimeConfig LIFETIME = lifetime(20, OptionalInt.empty(), OptionalLong.empty());

    static Stream<Arguments> refused() {
        return Stream.of(
                refuse("workers 257 is out of range (1..256)", () -> process(257)),
                refuse("spread 2s is longer than its deadline 1s", () -> shutdown(1, 2)),
                refuse("shutdown deadline 0s is out of range (10ms..7d)", () -> shutdown(0, 0)),
                refuse(
                        "lame-duck 1s is not shorter than its deadline 1s",
                        () -> new ShutdownConfig(Duration.ofSeconds(1), Duration.ZERO, Duration.ofSeconds(1))),
                refuse("needs a token file and TLS", () -> admin(Optional.empty(), Optional.of(TLS))),
                refuse("needs a token file and TLS", () -> admin(Optional.of("tokens"), Optional.empty())),
                refuse("is a directory", () -> admin(Optional.of("tokens/"), Optional.of(TLS))),
                refuse("the path is empty", () -> new AdminTlsConfig("", "k", Optional.empty())),
                refuse("is a directory", () -> new AdminTlsConfig("c", "k", Optional.of("a/"))),
                refuse("has control characters", () -> stateDir("a\n")),
                refuse("the path is empty", () -> new AccessLogConfig("", AccessLogConfig.Format.JSON)),
                refuse("listens nowhere", () -> frontend("a", List.of())),
                refuse("listen on TCP only", () -> frontend("a", List.of(ListenAddress.parse("unix:/x")))),
                refuse("name \"a/b\" is not allowed", () -> frontend("a/b", List.of(ListenAddress.parse("[::1]:1")))),
                refuse(
                        "jitter 101 is out of range (0..100)",
                        () -> lifetime(101, OptionalInt.empty(), OptionalLong.empty())),
                refuse(
                        "max-requests 0 is out of range (1..100000000)",
                        () -> lifetime(0, OptionalInt.of(0), OptionalLong.empty())),
                refuse(
                        "max-bytes 0B is out of range (1B..1024TiB)",
                        () -> lifetime(0, OptionalInt.empty(), OptionalLong.of(0))),
                refuse(
                        "rebalance max-share 99 is out of range (100..1000)",
                        () -> new RebalanceConfig(true, Duration.ZERO, 99)),
                refuse(
                        "rebalance spread 8d is out of range (0s..7d)",
                        () -> new RebalanceConfig(true, Duration.ofDays(8), 100)),
                refuse("health interval 99ms is out of range (100ms..1h)", () -> health(99, 50, "::1")),
                refuse("health fast-interval 2s is longer than the interval 1s", () -> health(1_000, 2_000, "::1")),
                refuse("is no IP address", () -> health(1_000, 1_000, "localhost")),
                refuse("\"0:0::1\" is not canonical; write \"::1\"", () -> health(1_000, 1_000, "0:0::1")),
                refuse("no step of the dialogue expects anything", () -> dialogue(List.of(SEND), Optional.empty())),
                refuse("steps: there are 33, more than 32", () -> dialogue(steps(33), Optional.empty())),
                refuse("\"(\" is no regular expression", () -> dialogue(steps(1), Optional.of("("))),
                refuse(
                        "is not bytes in hexadecimal",
                        () -> new HealthConfig.Step(HealthConfig.Step.Kind.SEND_HEX, "0d0")),
                refuse("the text is empty", () -> new HealthConfig.Step(HealthConfig.Step.Kind.EXPECT, "")),
                refuse("\"get\" is not in capitals", () -> http("get", List.of(), List.of())),
                refuse("header Host has a key of its own", () -> http("GET", List.of("Host: a"), List.of())),
                refuse("\"A:  b \" is not canonical", () -> http("GET", List.of("A:  b "), List.of())),
                refuse(
                        "status 399-400 is \"not ready\", and 200-399 passes",
                        () -> http("GET", List.of(), List.of(new HealthConfig.StatusRange(399, 400)))),
                refuse("status 600 is out of range", () -> new HealthConfig.StatusRange(200, 600)),
                refuse("statuses 300-200 end before they begin", () -> new HealthConfig.StatusRange(300, 200)),
                refuse("is no name of a service", () -> new HealthConfig.Grpc("a\nb", Optional.empty())),
                refuse("is no host", () -> new HealthConfig.Grpc("", Optional.of("a b"))),
                refuse(
                        "TLS asks for names only",
                        () -> new HealthConfig.Tls(Optional.of("10.0.0.1"), Optional.empty())),
                refuse("is a directory", () -> new HealthConfig.Tls(Optional.empty(), Optional.of("/ca/"))),
                refuse("the command is empty", () -> new HealthConfig.Exec(List.of())),
                refuse("is not an absolute path", () -> new HealthConfig.Exec(List.of("check"))),
                refuse(
                        "outlier max-ejection 1s is shorter than its ejection 2s",
                        () -> outlier(Duration.ofSeconds(2), Duration.ofSeconds(1))),
                refuse("breaker trials 0 is out of range", () -> new BreakerConfig(5, Duration.ofSeconds(1), 0)),
                refuse("retry-budget ratio 1001 is out of range", () -> new RetryBudgetConfig(1_001, 0)),
                refuse(
                        "slow-start aggression 0.05 is out of range (0.1..10)",
                        () -> new SlowStartConfig(Duration.ofSeconds(30), 0.05, 10)),
                refuse(
                        "slow-start aggression NaN is out of range",
                        () -> new SlowStartConfig(Duration.ofSeconds(30), Double.NaN, 10)),
                refuse("panic threshold 101 is out of range (0..100)", () -> new PanicConfig(101, true)),
                refuse("weight 1001 is out of range", () -> endpoint("a", 1_001)),
                refuse("name \"\" is not allowed", () -> endpoint("", 1)),
                refuse("no endpoint is given", () -> backend(List.of())),
                refuse("endpoint name \"a\" is used twice", () -> backend(List.of(endpoint("a", 1), endpoint("a", 1)))),
                refuse("10.0.0.1:80 is used twice", () -> backend(List.of(endpoint("a", 1), endpoint("b", 1)))),
                refuse("not canonical", () -> new EndpointAddress("DB", 80, false)),
                refuse("not canonical", () -> new EndpointAddress("10.0.0.1", 80, false)),
                refuse("not canonical", () -> new ListenAddress.Tcp("::0", 80)),
                refuse("takes an IP address", () -> new ListenAddress.Tcp("localhost", 80)),
                refuse("is not absolute", () -> new ListenAddress.Unix("x")),
                refuse("backend \"web\" is unknown; there are [b]", () -> config("web")));
    }

    private static Arguments refuse(String expected, Executable made) {
        return Arguments.of(expected, made);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refused")
    void aRecordThatCouldNotWorkCannotBeMade(String expected, Executable made) {
        String message = assertThrows(IllegalArgumentException.class, made).getMessage();
        assertTrue(message.contains(expected), message);
    }

    @Test
    void listsAreCopied() {
        List<EndpointConfig> endpoints = new ArrayList<>(List.of(endpoint("a", 0)));
        BackendConfig backend = backend(endpoints);
        endpoints.clear();
        assertEquals(1, backend.endpoints().size());
        assertThrows(
                UnsupportedOperationException.class, () -> backend.endpoints().clear());
    }

    @Test
    void aProblemIsOneLineWhateverIsInIt() {
        Problem problem = new Problem("f\n", 1, 2, "a\u001b", "b\r", "c\u2028\u202e", Problem.Severity.WARNING);
        assertEquals("f\\u000a:1:2: a\\u001b: warning: b\\u000d; c\\u2028\\u202e", problem.toString());
        assertThrows(IllegalArgumentException.class, () -> new Problem("f", 0, 1, "", "m", "", Problem.Severity.ERROR));
    }

    @Test
    void aResultHasAConfigurationExactlyWhenThereIsNoError() {
        Problem error = new Problem("f", 1, 1, "", "m", "", Problem.Severity.ERROR);
        assertThrows(IllegalArgumentException.class, () -> new ConfigResult(Optional.empty(), List.of()));
        assertThrows(IllegalArgumentException.class, () -> new ConfigResult(Optional.of(config("b")), List.of(error)));
    }

    private static AdminConfig admin(Optional<String> tokenFile, Optional<AdminTlsConfig> tls) {
        return new AdminConfig(List.of(ListenAddress.parse("10.0.0.1:1")), tokenFile, tls);
    }

    private static ProcessConfig stateDir(String path) {
        return new ProcessConfig(
                OptionalInt.empty(),
                ProcessConfig.Transport.NIO,
                OptionalInt.empty(),
                Optional.of(path),
                Optional.empty(),
                shutdown(10, 1));
    }

    private static ProcessConfig process(int workers) {
        return new ProcessConfig(
                OptionalInt.of(workers),
                ProcessConfig.Transport.NIO,
                OptionalInt.empty(),
                Optional.empty(),
                Optional.empty(),
                shutdown(10, 1));
    }

    private static ShutdownConfig shutdown(int deadlineSeconds, int spreadSeconds) {
        return new ShutdownConfig(
                Duration.ofSeconds(deadlineSeconds), Duration.ofSeconds(spreadSeconds), Duration.ZERO);
    }

    private static FrontendConfig frontend(String name, List<ListenAddress> listen) {
        return new FrontendConfig(
                name, listen, "b", FrontendConfig.Protocol.AUTO, OptionalInt.empty(), TIMEOUTS, LIFETIME);
    }

    private static LifetimeConfig lifetime(int jitterPercent, OptionalInt maxRequests, OptionalLong maxBytes) {
        return new LifetimeConfig(
                Optional.empty(),
                jitterPercent,
                maxRequests,
                maxBytes,
                Duration.ZERO,
                Duration.ofSeconds(5),
                Duration.ofSeconds(2));
    }

    private static final HealthConfig.Step SEND = new HealthConfig.Step(HealthConfig.Step.Kind.SEND, "PING");

    private static HealthConfig health(int intervalMillis, int fastMillis, String address) {
        return new HealthConfig(
                new HealthConfig.Tcp(false),
                Duration.ofMillis(intervalMillis),
                Duration.ofMillis(fastMillis),
                Duration.ofSeconds(1),
                10,
                2,
                3,
                Optional.empty(),
                Optional.of(address),
                Optional.empty(),
                HealthConfig.Initial.UP,
                HealthConfig.OnDown.KEEP,
                Optional.empty());
    }

    private static HealthConfig.Check dialogue(List<HealthConfig.Step> steps, Optional<String> notReady) {
        return new HealthConfig.SendExpect(steps, notReady);
    }

    private static List<HealthConfig.Step> steps(int count) {
        return Collections.nCopies(count, new HealthConfig.Step(HealthConfig.Step.Kind.EXPECT, "PONG"));
    }

    private static HealthConfig.Check http(
            String method, List<String> headers, List<HealthConfig.StatusRange> notReady) {
        return new HealthConfig.Http(
                method, "/", Optional.empty(), headers, HealthConfig.Http.PASSING, notReady, Optional.empty(), false);
    }

    private static OutlierConfig outlier(Duration ejection, Duration maxEjection) {
        return new OutlierConfig(
                5, Optional.empty(), 20, Duration.ofSeconds(10), Optional.empty(), ejection, maxEjection, 50);
    }

    private static EndpointConfig endpoint(String name, int weight) {
        return new EndpointConfig(name, ADDRESS, weight, OptionalInt.empty());
    }

    private static BackendConfig backend(List<EndpointConfig> endpoints) {
        return new BackendConfig("b", BackendConfig.Balance.RANDOM, endpoints, CONNECT, RebalanceConfig.DEFAULT);
    }

    private static Config config(String reference) {
        FrontendConfig frontend = new FrontendConfig(
                "f",
                List.of(ListenAddress.parse("127.0.0.1:0")),
                reference,
                FrontendConfig.Protocol.TCP,
                OptionalInt.empty(),
                TIMEOUTS,
                LIFETIME);
        return new Config(
                process(1),
                AdminConfig.NONE,
                new LogConfig(
                        LogConfig.Level.INFO,
                        new AccessLogConfig(AccessLogConfig.NONE, AccessLogConfig.Format.HAPROXY)),
                List.of(frontend),
                List.of(backend(List.of(endpoint("a", 1)))));
    }
}
