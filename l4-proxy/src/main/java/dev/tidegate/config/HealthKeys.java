package dev.tidegate.config;

import dev.tidegate.config.HealthConfig.Initial;
import dev.tidegate.config.HealthConfig.OnDown;
import dev.tidegate.config.HealthConfig.StatusRange;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The keys by which a backend's endpoints are watched, and kept from what they cannot take. Immutable. */
final class HealthKeys {
    private static final String OFF = "off";

    // health: of every check

    static final Key<CheckType> TYPE = Key.required(
            "type",
            ScalarType.oneOf(
                    CheckType.words(), Map.of("https", "is not in this version: tls checks the handshake alone")),
            "what a check does: connect (`tcp`), hold a dialogue (`send-expect`), ask by HTTP (`http`) or by gRPC's health"
                    + " protocol (`grpc`), shake hands (`tls`), or run a program (`exec`)");
    static final Key<Duration> INTERVAL = Key.optional(
            "interval",
            ScalarType.duration(DurationRange.CHECK_INTERVAL),
            Duration.ofSeconds(2),
            "2s",
            "from the start of one check of an endpoint to the next");
    static final Key<Duration> FAST_INTERVAL = Key.derived(
            "fast-interval",
            ScalarType.duration(DurationRange.CHECK_FAST_INTERVAL),
            "the interval",
            "the same while results speak for a change that `rise` or `fall` still holds up; at most `interval`");
    static final Key<Duration> TIMEOUT = Key.optional(
            "timeout",
            ScalarType.duration(DurationRange.CHECK_TIMEOUT),
            Duration.ofSeconds(1),
            "1s",
            "what one check may take; longer is a failure");
    static final Key<Integer> JITTER = Key.optional(
            "jitter",
            ScalarType.share(IntRange.CHECK_JITTER),
            10,
            "10%",
            "each time between two checks is drawn from the interval × (1 ± jitter), so that checks do not fall into step");
    static final Key<Integer> RISE = Key.optional(
            "rise", ScalarType.whole(IntRange.RISE, "checks"), 2, "2", "passes in a row that bring an endpoint up");
    static final Key<Integer> FALL = Key.optional(
            "fall",
            ScalarType.whole(IntRange.FALL, "checks"),
            3,
            "3",
            "other results in a row that take an endpoint out");
    static final Key<Integer> PORT = Key.derived(
            "port",
            ScalarType.whole(IntRange.PORT, ""),
            "the endpoint's",
            "the port that is checked in place of the endpoint's");
    static final Key<String> ADDRESS = Key.derived(
            "address",
            ScalarType.text("IP address", "an IP address without a port", "", IpText::readHost),
            "the endpoint's",
            "the IP address that is checked in place of the endpoint's");
    static final Key<String> SOURCE = Key.derived(
            "source",
            ScalarType.text("IP address", "an IP address without a port", "", IpText::readHost),
            "the system's choice",
            "the IP address of this machine that checks come from; not for `exec`");
    static final Key<Initial> INITIAL = Key.optional(
            "initial",
            ScalarType.oneOf(
                    ScalarType.words(
                            Map.entry("up", Initial.UP),
                            Map.entry("down", Initial.DOWN),
                            Map.entry("unknown", Initial.UNKNOWN)),
                    Map.of()),
            Initial.UNKNOWN,
            "unknown",
            "what an endpoint is until its first check; one that is `unknown` gets connections only when no other can take"
                    + " them");
    static final Key<OnDown> ON_DOWN = Key.optional(
            "on-down",
            ScalarType.oneOf(
                    ScalarType.words(
                            Map.entry("keep", OnDown.KEEP),
                            Map.entry("drain", OnDown.DRAIN),
                            Map.entry("cut", OnDown.CUT)),
                    Map.of()),
            OnDown.KEEP,
            "keep",
            "what becomes of an endpoint's connections when it goes down: they stay, are retired, or are cut, a few at a time");
    static final Key<Optional<Duration>> MAX_HOLD_DOWN = Key.optional(
            "max-hold-down",
            ScalarType.durationOrOff(DurationRange.MAX_HOLD_DOWN, "to hold none down"),
            Optional.of(Duration.ofMinutes(5)),
            "5m",
            "the longest that an endpoint which goes up and down is held down; `off`: it comes up after `rise` passes each"
                    + " time");

    // health: of one type

    static final Key<Boolean> CLOSE = Key.optional(
            "close",
            ScalarType.oneOf(ScalarType.words(Map.entry("fin", false), Map.entry("reset", true)), Map.of()),
            false,
            "fin",
            "for `tcp`: how the connection ends; `reset` leaves nothing behind on this machine, and a line in the log of many"
                    + " a server");
    static final Key<String> SEND = Key.derived("send", someText(), "", "text that is sent, in UTF-8");
    static final Key<String> SEND_HEX = Key.derived("send-hex", hex(), "", "bytes that are sent, two digits each");
    static final Key<String> EXPECT = Key.derived("expect", someText(), "", "text that is waited for, in UTF-8");
    static final Key<String> EXPECT_HEX =
            Key.derived("expect-hex", hex(), "", "bytes that are waited for, two digits each");
    static final Key<String> EXPECT_REGEX = Key.derived(
            "expect-regex",
            regex(),
            "",
            "an expression that is looked for in what has come since the last step, read as ISO 8859-1");
    /** What a step may do, one of them each. */
    static final List<Key<String>> STEP = List.of(SEND, SEND_HEX, EXPECT, EXPECT_HEX, EXPECT_REGEX);

    static final Key<List<Located<Values>>> STEPS = Key.derived(
            "steps",
            new SectionList(new Section(List.copyOf(STEP), Map.of()), CheckWords.STEPS_MAX),
            "required for `send-expect`",
            "for `send-expect`: the dialogue, up to 32 steps, each with one key; at least one expects something");
    static final Key<String> NOT_READY = Key.derived(
            "not-ready",
            regex(),
            "none",
            "for `send-expect`: an expression that means \"not ready\" if it is found while an answer is waited for");
    static final Key<String> METHOD = Key.optional(
            "method",
            ScalarType.text("method", "a method such as GET", "", CheckWords::method),
            "GET",
            "GET",
            "for `http`: the request's method");
    static final Key<String> PATH = Key.optional(
            "path",
            ScalarType.text("request target", "a path such as /healthz", "", CheckWords::target),
            "/",
            "/",
            "for `http`: the request's path, with its query");
    static final Key<String> HOST = Key.derived(
            "host",
            ScalarType.text("host", "a host such as app.internal", "", CheckWords::authority),
            "the address that is checked",
            "for `http` and `grpc`: the Host header, or HTTP/2's `:authority`");
    static final Key<List<Located<String>>> HEADERS = Key.derived(
            "headers",
            new OneOrMany<>(
                    ScalarType.text(
                            "header", "NAME: VALUE in quotes, as in \"Accept: text/plain\"", "", CheckWords::header),
                    CheckWords.HEADERS_MAX),
            "none",
            "for `http`: further headers, each `NAME: VALUE` in quotes");
    static final Key<List<Located<StatusRange>>> EXPECT_STATUS = Key.derived(
            "expect-status",
            new OneOrMany<>(ScalarType.statuses(), CheckWords.STATUSES_MAX),
            "200-399",
            "for `http`: the statuses that pass");
    static final Key<List<Located<StatusRange>>> NOT_READY_STATUS = Key.derived(
            "not-ready-status",
            new OneOrMany<>(ScalarType.statuses(), CheckWords.STATUSES_MAX),
            "none",
            "for `http`: the statuses that mean \"not ready\": no new connections, and those there are stay");
    static final Key<String> EXPECT_BODY = Key.derived(
            "expect-body",
            regex(),
            "none",
            "for `http`: an expression to be found in the first 64 KiB of the body, else the check fails");
    static final Key<Boolean> HTTP_VERSION = Key.optional(
            "http-version",
            ScalarType.oneOf(ScalarType.words(Map.entry("1.1", false), Map.entry("h2c", true)), Map.of()),
            false,
            "1.1",
            "for `http`: `h2c` is HTTP/2 in cleartext, spoken without asking first");
    static final Key<String> SERVICE = Key.optional(
            "service",
            ScalarType.text("name", "the name of a service", "", CheckWords::service),
            "",
            "the server as a whole",
            "for `grpc`: the service that is asked about");
    static final Key<String> SERVER_NAME = Key.derived(
            "server-name",
            ScalarType.text("host name", "a host name such as app.internal", "", CheckWords::serverName),
            "none",
            "for `tls`: the name that is asked for (SNI), and with `ca` the one that the certificate must have");
    static final Key<String> CA = Key.derived(
            "ca",
            Paths.file(),
            "not verified",
            "for `tls`: certificates, in PEM, by one of which the endpoint's must be signed");
    static final Key<List<Located<String>>> COMMAND = Key.derived(
            "command",
            new OneOrMany<>(
                    ScalarType.text("argument", "an argument", "", CheckWords::argument), CheckWords.ARGUMENTS_MAX),
            "required for `exec`",
            "for `exec`: the program, by its absolute path, and its arguments; no shell is between. Exit status 0 passes, 75 is"
                    + " \"not ready\", 126 and 127 say that it cannot be run, any other fails");

    /** The keys that only some types have, with these types. */
    static final Map<Key<?>, List<CheckType>> TYPES = types();

    static final Key<Optional<Values>> HEALTH = Key.optional(
            "health",
            SectionOrOff.ofSome(section(
                    TYPE,
                    INTERVAL,
                    FAST_INTERVAL,
                    TIMEOUT,
                    JITTER,
                    RISE,
                    FALL,
                    PORT,
                    ADDRESS,
                    SOURCE,
                    INITIAL,
                    ON_DOWN,
                    MAX_HOLD_DOWN,
                    CLOSE,
                    STEPS,
                    NOT_READY,
                    METHOD,
                    PATH,
                    HOST,
                    HEADERS,
                    EXPECT_STATUS,
                    NOT_READY_STATUS,
                    EXPECT_BODY,
                    HTTP_VERSION,
                    SERVICE,
                    SERVER_NAME,
                    CA,
                    COMMAND)),
            Optional.empty(),
            OFF,
            "how endpoints are checked; `off`: they are always up");

    // outlier

    static final Key<Integer> OUTLIER_FAILURES = Key.optional(
            "consecutive-failures",
            ScalarType.whole(IntRange.CONSECUTIVE_FAILURES, "connections"),
            OutlierConfig.DEFAULT.consecutiveFailures(),
            "5",
            "so many connections in a row that fail eject their endpoint: refused, timed out, or reset before its first byte");
    static final Key<Optional<Integer>> FAILURE_RATE = Key.optional(
            "failure-rate",
            ScalarType.shareOrOff(IntRange.FAILURE_RATE, "to leave the rate out of account"),
            OutlierConfig.DEFAULT.failureRatePercent(),
            OFF,
            "this share of one interval's connections that fail ejects their endpoint");
    static final Key<Integer> MIN_CONNECTIONS = Key.optional(
            "min-connections",
            ScalarType.whole(IntRange.MIN_CONNECTIONS, "connections"),
            OutlierConfig.DEFAULT.minConnections(),
            "20",
            "with fewer in one interval, `failure-rate` does not count");
    static final Key<Duration> OUTLIER_INTERVAL = Key.optional(
            "interval",
            ScalarType.duration(DurationRange.OUTLIER_INTERVAL),
            OutlierConfig.DEFAULT.interval(),
            "10s",
            "over which `failure-rate` is taken");
    static final Key<Optional<Duration>> FIRST_BYTE = Key.optional(
            "first-byte",
            ScalarType.durationOrOff(DurationRange.FIRST_BYTE),
            OutlierConfig.DEFAULT.firstByte(),
            OFF,
            "a first request whose answer has not begun after this long is a failure; it is counted, and the connection"
                    + " goes on");
    static final Key<Duration> EJECTION = Key.optional(
            "ejection",
            ScalarType.duration(DurationRange.EJECTION),
            OutlierConfig.DEFAULT.ejection(),
            "30s",
            "how long the first ejection lasts; each further one lasts that much longer");
    static final Key<Duration> MAX_EJECTION = Key.derived(
            "max-ejection",
            ScalarType.duration(DurationRange.MAX_EJECTION),
            "5m, or `ejection` if that is longer",
            "the longest that one ejection lasts; at least `ejection`");
    static final Key<Integer> MAX_EJECTED = Key.optional(
            "max-ejected",
            ScalarType.share(IntRange.MAX_EJECTED),
            OutlierConfig.DEFAULT.maxEjectedPercent(),
            "50%",
            "how many of the endpoints are ejected or have an open breaker at a time: at most the larger of one and this"
                    + " share rounded down, and never the last");
    static final Key<Optional<Values>> OUTLIER = Key.optional(
            "outlier",
            new SectionOrOff(section(
                    OUTLIER_FAILURES,
                    FAILURE_RATE,
                    MIN_CONNECTIONS,
                    OUTLIER_INTERVAL,
                    FIRST_BYTE,
                    EJECTION,
                    MAX_EJECTION,
                    MAX_EJECTED)),
            Optional.of(Values.NONE),
            "",
            "when an endpoint gets no new connections for a while, because of how those it had fared");

    // breaker

    static final Key<Integer> BREAKER_FAILURES = Key.optional(
            "consecutive-failures",
            ScalarType.whole(IntRange.CONSECUTIVE_FAILURES, "connects"),
            BreakerConfig.DEFAULT.consecutiveFailures(),
            "5",
            "so many connects in a row that fail open the breaker");
    static final Key<Duration> OPEN = Key.optional(
            "open",
            ScalarType.duration(DurationRange.BREAKER_OPEN),
            BreakerConfig.DEFAULT.open(),
            "10s",
            "how long it stays open before the endpoint is tried again");
    static final Key<Integer> TRIALS = Key.optional(
            "trials",
            ScalarType.whole(IntRange.TRIALS, "connects"),
            BreakerConfig.DEFAULT.trials(),
            "1",
            "connects under way at a time while it is tried");
    static final Key<Optional<Values>> BREAKER = Key.optional(
            "breaker",
            new SectionOrOff(section(BREAKER_FAILURES, OPEN, TRIALS)),
            Optional.empty(),
            OFF,
            "when an endpoint is no longer dialed, because connects to it fail; `{}` switches it on with the defaults");

    // retry-budget

    static final Key<Integer> RATIO = Key.optional(
            "ratio",
            ScalarType.share(IntRange.RETRY_RATIO),
            RetryBudgetConfig.DEFAULT.ratioPercent(),
            "20%",
            "attempts after the first, as a share of the new connections; what is not used is kept, up to the share of one second");
    static final Key<Integer> MIN_PER_SECOND = Key.optional(
            "min-per-second",
            ScalarType.whole(IntRange.RETRY_MIN_PER_SECOND, "attempts"),
            RetryBudgetConfig.DEFAULT.minPerSecond(),
            "10",
            "so many are allowed beside that share");
    static final Key<Optional<Values>> RETRY_BUDGET = Key.optional(
            "retry-budget",
            new SectionOrOff(section(RATIO, MIN_PER_SECOND)),
            Optional.of(Values.NONE),
            "",
            "how many attempts after a connection's first there may be; `off`: as many as `connect.attempts` allows");

    // slow-start

    static final Key<Duration> WINDOW = Key.optional(
            "window",
            ScalarType.duration(DurationRange.SLOW_START_WINDOW),
            SlowStartConfig.DEFAULT.window(),
            "30s",
            "how long it takes to the full share");
    static final Key<Double> AGGRESSION = Key.optional(
            "aggression",
            ScalarType.decimal(DecimalRange.AGGRESSION),
            SlowStartConfig.DEFAULT.aggression(),
            "1.0",
            "the share is the elapsed part of the window to the power of 1 / aggression: 1 grows evenly, more than 1 faster"
                    + " at first");
    static final Key<Integer> MIN_WEIGHT = Key.optional(
            "min-weight",
            ScalarType.share(IntRange.MIN_WEIGHT),
            SlowStartConfig.DEFAULT.minWeightPercent(),
            "10%",
            "the least share, from the first moment on");
    static final Key<Optional<Values>> SLOW_START = Key.optional(
            "slow-start",
            new SectionOrOff(section(WINDOW, AGGRESSION, MIN_WEIGHT)),
            Optional.empty(),
            OFF,
            "how the share of an endpoint that is new, or comes back, grows to its weight; its `max-connections` grow along;"
                    + " `{}` switches it on with the defaults");

    // panic

    static final Key<Integer> THRESHOLD = Key.optional(
            "threshold",
            ScalarType.share(IntRange.PANIC_THRESHOLD),
            PanicConfig.DEFAULT.thresholdPercent(),
            "50%",
            "with a smaller share of fit endpoints among those that are ready the backend is in panic; `0%` is never");
    static final Key<Boolean> MODE = Key.optional(
            "mode",
            ScalarType.oneOf(ScalarType.words(Map.entry("spread", true), Map.entry("refuse", false)), Map.of()),
            PanicConfig.DEFAULT.spread(),
            "spread",
            "`spread`: connections go to all that are ready, as if all were up; `refuse`: to fit ones alone, however few, and"
                    + " are refused when there is none");
    static final Key<Optional<Values>> PANIC = Key.optional(
            "panic",
            new SectionOrOff(section(THRESHOLD, MODE)),
            Optional.of(Values.NONE),
            "",
            "what happens when too few endpoints are fit; `off`: as with a threshold of 0%, nothing");

    private HealthKeys() {}

    /** The health that a backend is given, if it is not off. */
    static Optional<Located<Values>> healthOf(Values backend) {
        return backend.given(HEALTH)
                .flatMap(health -> health.value().map(values -> new Located<>(values, health.mark(), health.path())));
    }

    private static Section section(Key<?>... keys) {
        return new Section(List.of(keys), Map.of());
    }

    private static ScalarType<String> someText() {
        return ScalarType.text("text", "text", "", CheckWords::some);
    }

    private static ScalarType<String> hex() {
        return ScalarType.text("bytes", "hexadecimal digits", CheckWords.HEX_PATTERN, CheckWords::hex);
    }

    private static ScalarType<String> regex() {
        return ScalarType.text("regular expression", "a regular expression", "", Regexes::read);
    }

    private static Map<Key<?>, List<CheckType>> types() {
        Map<Key<?>, List<CheckType>> types = new LinkedHashMap<>();
        types.put(SOURCE, List.of(CheckType.TCP, CheckType.SEND_EXPECT, CheckType.HTTP, CheckType.GRPC, CheckType.TLS));
        types.put(CLOSE, List.of(CheckType.TCP));
        types.put(STEPS, List.of(CheckType.SEND_EXPECT));
        types.put(NOT_READY, List.of(CheckType.SEND_EXPECT));
        types.put(METHOD, List.of(CheckType.HTTP));
        types.put(PATH, List.of(CheckType.HTTP));
        types.put(HOST, List.of(CheckType.HTTP, CheckType.GRPC));
        types.put(HEADERS, List.of(CheckType.HTTP));
        types.put(EXPECT_STATUS, List.of(CheckType.HTTP));
        types.put(NOT_READY_STATUS, List.of(CheckType.HTTP));
        types.put(EXPECT_BODY, List.of(CheckType.HTTP));
        types.put(HTTP_VERSION, List.of(CheckType.HTTP));
        types.put(SERVICE, List.of(CheckType.GRPC));
        types.put(SERVER_NAME, List.of(CheckType.TLS));
        types.put(CA, List.of(CheckType.TLS));
        types.put(COMMAND, List.of(CheckType.EXEC));
        return types;
    }
}
