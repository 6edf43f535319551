package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A configuration written out says the same. */
final class ConfigDocumentTest {
    private static final long SEED = 20_261_129;

    static List<Path> examples() throws IOException {
        return ExamplesTest.examples();
    }

    @ParameterizedTest
    @MethodSource("examples")
    void everyExampleComesBackEqual(Path example) {
        Config config = ConfigReader.read(example, ConfigText.NO_ENV).config().orElseThrow();
        assertEquals(config, readBack(config));
    }

    @Test
    void defaultsAreWrittenOutInTheConfigurationsWords() {
        assertEquals(
                Map.of(
                        "process",
                        Map.of(
                                "workers",
                                "auto",
                                "transport",
                                "auto",
                                "max-connections",
                                "auto",
                                "warm-up",
                                "1s",
                                "shutdown",
                                Map.of("deadline", "5m", "spread", "10s", "lame-duck", "0s")),
                        "log",
                        Map.of("level", "info", "access", Map.of("path", "stdout", "format", "json")),
                        "frontends",
                        List.of(Map.of(
                                "name",
                                "edge",
                                "listen",
                                List.of("127.0.0.1:8080"),
                                "backend",
                                "web",
                                "protocol",
                                "auto",
                                "timeouts",
                                Map.of("idle", "1h", "half-closed", "1m", "unacked", "5m"),
                                "lifetime",
                                Map.of(
                                        "max-age",
                                        "off",
                                        "jitter",
                                        "20%",
                                        "max-requests",
                                        "off",
                                        "max-bytes",
                                        "off",
                                        "grace",
                                        "5m",
                                        "quiet",
                                        "5s",
                                        "linger",
                                        "2s"))),
                        "backends",
                        List.of(plus(
                                "health",
                                "off",
                                Map.of(
                                        "name",
                                        "web",
                                        "balance",
                                        "power-of-two",
                                        "endpoints",
                                        List.of(Map.of(
                                                "name", "127.0.0.1:8081", "address", "127.0.0.1:8081", "weight", 1)),
                                        "connect",
                                        Map.of(
                                                "timeout",
                                                "2s",
                                                "attempts",
                                                3,
                                                "deadline",
                                                "5s",
                                                "proxy-protocol",
                                                "off"),
                                        "rebalance",
                                        Map.of("on-join", false, "spread", "2m", "max-share", "110%"),
                                        "outlier",
                                        Map.of(
                                                "consecutive-failures",
                                                5,
                                                "failure-rate",
                                                "off",
                                                "min-connections",
                                                20,
                                                "interval",
                                                "10s",
                                                "first-byte",
                                                "off",
                                                "ejection",
                                                "30s",
                                                "max-ejection",
                                                "5m",
                                                "max-ejected",
                                                "50%"),
                                        "breaker",
                                        "off",
                                        "retry-budget",
                                        Map.of("ratio", "20%", "min-per-second", 10),
                                        "slow-start",
                                        "off",
                                        "panic",
                                        Map.of("threshold", "50%", "mode", "spread"))))),
                ConfigDocument.of(ConfigText.valid().read().config().orElseThrow()));
    }

    private static Map<String, Object> plus(String key, Object value, Map<String, Object> others) {
        Map<String, Object> all = new LinkedHashMap<>(others);
        all.put(key, value);
        return all;
    }

    @Test
    void everyKeyOfTheReferenceIsWritten() throws IOException {
        Config full = ConfigReader.read(Path.of("..", "examples", "full.yaml"), ConfigText.NO_ENV)
                .config()
                .orElseThrow();
        Set<String> written = new TreeSet<>();
        collect(ConfigDocument.of(full), "", written);
        Set<String> known = new TreeSet<>();
        ConfigKeys.all().forEach(place -> known.add(place.path()));
        known.remove("include"); // what it brought is written in its place
        assertEquals(known, written);
    }

    private static void collect(Object value, String path, Set<String> into) {
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, inner) -> {
                String at = path.isEmpty() ? key.toString() : path + "." + key;
                into.add(at);
                collect(inner, at, into);
            });
        } else if (value instanceof List<?> list) {
            list.forEach(element -> collect(element, path + "[]", into));
        }
    }

    @Test
    void aPathWithADollarAndABraceIsNotTakenForAVariable() {
        Config config = ConfigText.valid()
                .with("log.access.path", "\"/var/$${HOME}/$$$${x.log\"")
                .read()
                .config()
                .orElseThrow();
        assertEquals("/var/${HOME}/$$${x.log", config.log().access().path());
        assertEquals(config, readBack(config));
    }

    @Test
    void theSpreadOfAnOddDeadlineComesBackEqual() {
        Config config = ConfigText.valid()
                .with("process.shutdown.deadline", "15ms")
                .read()
                .config()
                .orElseThrow();
        assertEquals(config, readBack(config));
    }

    @Test
    @Tag("slow")
    void anyConfigurationComesBackEqual() {
        Random random = new Random(SEED);
        for (int i = 0; i < 300; i++) {
            Config config = new Made(random).config();
            assertEquals(config, readBack(config), "configuration " + i + " of seed " + SEED);
        }
    }

    private static Config readBack(Config config) {
        String json;
        try {
            json = new ObjectMapper().writeValueAsString(ConfigDocument.of(config));
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
        ConfigResult result =
                ConfigReader.readText("written.json", json.getBytes(StandardCharsets.UTF_8), ConfigText.NO_ENV);
        return result.config().orElseThrow(() -> new AssertionError(result.problems() + "\n" + json));
    }

    /** Configurations by chance, of everything that records allow and a file can say. */
    private record Made(Random random) {
        private static final List<String> PATHS =
                List.of("/a", "b/c.log", "true", "12", "~", "a: b", "# no", "${X", "$$", "ä\u4f60", "'q' \"r\"", " ");

        Config config() {
            List<BackendConfig> backends = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(3); i++) {
                backends.add(backend(i));
            }
            List<FrontendConfig> frontends = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(3); i++) {
                frontends.add(frontend(i, "b" + random.nextInt(backends.size())));
            }
            return new Config(process(), admin(), log(), frontends, backends);
        }

        private ProcessConfig process() {
            Duration deadline = duration(10, 604_800_000L);
            return new ProcessConfig(
                    maybe(256),
                    any(ProcessConfig.Transport.values()),
                    maybe(10_000_000),
                    maybePath(),
                    random.nextBoolean() ? Optional.empty() : Optional.of(duration(10, 2_000)),
                    new ShutdownConfig(
                            deadline,
                            duration(0, deadline.toMillis()),
                            duration(0, Math.min(3_600_000, deadline.toMillis() - 1))));
        }

        private AdminConfig admin() {
            boolean guarded = random.nextBoolean();
            List<ListenAddress> listen = new ArrayList<>();
            for (int i = 0; i < random.nextInt(3); i++) {
                listen.add(ListenAddress.parse(
                        any("unix:/run/${x}/" + i + ".sock", "127.0.0.1:" + (20 + i), "[::1]:" + (20 + i))));
            }
            if (guarded) {
                listen.add(ListenAddress.parse("10.0.0.9:19"));
            }
            return new AdminConfig(
                    listen,
                    guarded ? Optional.of(any("/tokens", "${t")) : maybePath(),
                    guarded || random.nextBoolean()
                            ? Optional.of(new AdminTlsConfig("c.pem", any("k", "12"), maybePath()))
                            : Optional.empty());
        }

        private LogConfig log() {
            return new LogConfig(
                    any(LogConfig.Level.values()),
                    new AccessLogConfig(maybePath().orElse("none"), any(AccessLogConfig.Format.values())));
        }

        private FrontendConfig frontend(int number, String backend) {
            List<ListenAddress> listen = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(3); i++) {
                listen.add(ListenAddress.parse(
                        any("127.0.0.1:", "[2001:db8::1]:", "0.0.0.0:") + (1_000 + number * 10 + i)));
            }
            return new FrontendConfig(
                    any("f", "F.x-", "9_") + number,
                    listen,
                    backend,
                    any(FrontendConfig.Protocol.values()),
                    maybe(10_000_000),
                    new TimeoutsConfig(orOff(31_536_000_000L), orOff(31_536_000_000L), orOff(2_073_600_000L)),
                    new LifetimeConfig(
                            orOff(31_536_000_000L),
                            random.nextInt(101),
                            maybe(100_000_000),
                            maybeBytes(),
                            duration(0, 31_536_000_000L),
                            duration(10, 3_600_000),
                            duration(10, 300_000)));
        }

        private OptionalLong maybeBytes() {
            long bytes = 1 + (long) (random.nextDouble() * ((1L << 50) - 1));
            long unit = any(1L, 1L << 10, 1L << 20, 1L << 30, 1L << 40);
            return random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(Math.max(1, bytes / unit * unit));
        }

        private BackendConfig backend(int number) {
            List<EndpointConfig> endpoints = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(4); i++) {
                EndpointAddress address = EndpointAddress.parse(
                        any("10.0.0.1:", "[2001:db8::2]:", "db.internal:", "db.internal.:") + (1 + i));
                endpoints.add(new EndpointConfig(
                        random.nextBoolean() ? address.toString() : "e" + i,
                        address,
                        random.nextInt(1_001),
                        maybe(10_000_000)));
            }
            return new BackendConfig(
                    "b" + number,
                    any(BackendConfig.Balance.values()),
                    endpoints,
                    new ConnectConfig(
                            duration(10, 300_000),
                            1 + random.nextInt(10),
                            duration(10, 3_600_000),
                            any(ConnectConfig.ProxyProtocol.values())),
                    new RebalanceConfig(random.nextBoolean(), duration(0, 604_800_000L), 100 + random.nextInt(901)),
                    random.nextBoolean() ? Optional.of(health()) : Optional.empty(),
                    random.nextBoolean() ? Optional.of(outlier()) : Optional.empty(),
                    random.nextBoolean()
                            ? Optional.of(new BreakerConfig(
                                    1 + random.nextInt(1_000), duration(100, 3_600_000), 1 + random.nextInt(1_000)))
                            : Optional.empty(),
                    random.nextBoolean()
                            ? Optional.of(new RetryBudgetConfig(random.nextInt(1_001), random.nextInt(1_000_001)))
                            : Optional.empty(),
                    random.nextBoolean()
                            ? Optional.of(new SlowStartConfig(
                                    duration(1_000, 3_600_000),
                                    any(0.1, 1.0, 1.25, 10.0, (1 + random.nextInt(99)) / 10.0),
                                    1 + random.nextInt(100)))
                            : Optional.empty(),
                    new PanicConfig(random.nextInt(101), random.nextBoolean()));
        }

        private HealthConfig health() {
            Duration interval = duration(100, 3_600_000);
            return new HealthConfig(
                    check(),
                    interval,
                    random.nextBoolean() ? interval : duration(50, interval.toMillis()),
                    duration(10, 600_000),
                    random.nextInt(51),
                    1 + random.nextInt(100),
                    1 + random.nextInt(100),
                    random.nextBoolean() ? Optional.of(1 + random.nextInt(65_535)) : Optional.empty(),
                    random.nextBoolean() ? Optional.of(any("10.0.0.9", "10.0.1.1")) : Optional.empty(),
                    Optional.empty(), // its family would have to be that of all endpoints
                    any(HealthConfig.Initial.values()),
                    any(HealthConfig.OnDown.values()),
                    random.nextBoolean() ? Optional.of(duration(1_000, 86_400_000)) : Optional.empty());
        }

        private HealthConfig.Check check() {
            return switch (random.nextInt(6)) {
                case 0 -> new HealthConfig.Tcp(random.nextBoolean());
                case 1 -> dialogue();
                case 2 -> http();
                case 3 -> new HealthConfig.Grpc(any("", "shop.v1.Cart", "${x", "12"), host());
                case 4 ->
                    new HealthConfig.Tls(
                            random.nextBoolean() ? Optional.of(any("app.internal", "a")) : Optional.empty(),
                            maybePath());
                default ->
                    new HealthConfig.Exec(List.of(any("/bin/a b", "/${x"), any(PATHS.toArray(new String[0])), ""));
            };
        }

        private HealthConfig.Check dialogue() {
            List<HealthConfig.Step> steps = new ArrayList<>();
            for (int i = 0; i < random.nextInt(4); i++) {
                HealthConfig.Step.Kind kind = any(HealthConfig.Step.Kind.values());
                String text =
                        kind.name().endsWith("HEX") ? any("00", "0d0A", "1234") : any("a\r\n", "1", "$${é", "\0x");
                steps.add(new HealthConfig.Step(
                        kind, kind == HealthConfig.Step.Kind.EXPECT_REGEX ? any("^a$", "1|2") : text));
            }
            steps.add(new HealthConfig.Step(HealthConfig.Step.Kind.EXPECT, "${"));
            return new HealthConfig.SendExpect(steps, regex());
        }

        private HealthConfig.Check http() {
            return new HealthConfig.Http(
                    any("GET", "HEAD", "X-A$"),
                    any("/", "*", "/a?b=${c}", "/%20"),
                    host(),
                    random.nextBoolean() ? List.of() : List.of("A: b", "X-Y: ${z"),
                    List.of(new HealthConfig.StatusRange(200, 200 + random.nextInt(200))),
                    random.nextBoolean() ? List.of() : List.of(new HealthConfig.StatusRange(503, 503)),
                    Optional.empty(), // an answer to HEAD has no body
                    random.nextBoolean());
        }

        private Optional<String> host() {
            return random.nextBoolean() ? Optional.of(any("[::1]:80", "app.internal")) : Optional.empty();
        }

        private Optional<String> regex() {
            return random.nextBoolean() ? Optional.of(any("^-LOADING", "[$]\\{", "12", "true")) : Optional.empty();
        }

        private OutlierConfig outlier() {
            Duration ejection = duration(100, 86_400_000);
            return new OutlierConfig(
                    1 + random.nextInt(1_000),
                    random.nextBoolean() ? Optional.of(1 + random.nextInt(100)) : Optional.empty(),
                    1 + random.nextInt(1_000_000),
                    duration(1_000, 3_600_000),
                    random.nextBoolean() ? Optional.of(duration(10, 3_600_000)) : Optional.empty(),
                    ejection,
                    duration(ejection.toMillis(), 86_400_000),
                    random.nextInt(101));
        }

        @SafeVarargs
        private <T> T any(T... values) {
            return values[random.nextInt(values.length)];
        }

        private OptionalInt maybe(int max) {
            return random.nextBoolean() ? OptionalInt.empty() : OptionalInt.of(1 + random.nextInt(max));
        }

        private Optional<String> maybePath() {
            return random.nextBoolean() ? Optional.empty() : Optional.of(PATHS.get(random.nextInt(PATHS.size())));
        }

        private Optional<Duration> orOff(long maxMillis) {
            return random.nextInt(4) == 0 ? Optional.empty() : Optional.of(duration(10, maxMillis));
        }

        /** Often a round one, since those are written in another unit. */
        private Duration duration(long minMillis, long maxMillis) {
            long millis = minMillis + (long) (random.nextDouble() * (maxMillis - minMillis));
            long unit = any(1L, 1_000L, 60_000L, 3_600_000L, 86_400_000L);
            long round = millis / unit * unit;
            return Duration.ofMillis(round >= minMillis ? round : millis);
        }
    }
}
