package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
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
                shutdown(10, 1));
    }

    private static ProcessConfig process(int workers) {
        return new ProcessConfig(
                OptionalInt.of(workers),
                ProcessConfig.Transport.NIO,
                OptionalInt.empty(),
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
