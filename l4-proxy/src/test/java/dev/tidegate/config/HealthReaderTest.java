package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.HealthConfig.StatusRange;
import dev.tidegate.config.HealthConfig.Step;
import dev.tidegate.config.HealthConfig.Step.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Health and what belongs to it, as files say it. */
final class HealthReaderTest {
    private static final Duration TWO_SECONDS = Duration.ofSeconds(2);

    private static ConfigResult read(String group, String yaml) {
        return ConfigText.valid().with("backends[]." + group, yaml).read();
    }

    private static BackendConfig backend(String group, String yaml) {
        ConfigResult result = read(group, yaml);
        assertEquals(List.of(), ConfigText.lines(result));
        return result.config().orElseThrow().backends().get(0);
    }

    private static HealthConfig.Check check(String yaml) {
        return backend("health", yaml).health().orElseThrow().check();
    }

    /** What is wrong with one backend's group, less the way to the backend. */
    private static List<String> problems(String group, String yaml) {
        return ConfigText.lines(read(group, yaml)).stream()
                .map(line -> line.replaceFirst("^t.yaml:[0-9]+:[0-9]+: backends\\.web\\.", ""))
                .toList();
    }

    @Test
    void withoutAWordNothingIsCheckedAndEndpointsAreEjectedAndRetriesBounded() {
        BackendConfig backend = backend("balance", "random");
        assertEquals(Optional.empty(), backend.health());
        assertEquals(Optional.of(OutlierConfig.DEFAULT), backend.outlier());
        assertEquals(Optional.empty(), backend.breaker());
        assertEquals(Optional.of(RetryBudgetConfig.DEFAULT), backend.retryBudget());
        assertEquals(Optional.empty(), backend.slowStart());
        assertEquals(PanicConfig.DEFAULT, backend.panic());
    }

    @Test
    void aTypeIsEnoughForACheck() {
        assertEquals(
                Optional.of(new HealthConfig(
                        new HealthConfig.Tcp(false),
                        TWO_SECONDS,
                        TWO_SECONDS,
                        Duration.ofSeconds(1),
                        10,
                        2,
                        3,
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        HealthConfig.Initial.UNKNOWN,
                        HealthConfig.OnDown.KEEP,
                        Optional.of(Duration.ofMinutes(5)))),
                backend("health", "{type: tcp}").health());
    }

    @Test
    void everyKeyOfEveryCheckIsTaken() {
        assertEquals(
                Optional.of(new HealthConfig(
                        new HealthConfig.Tcp(true),
                        Duration.ofSeconds(5),
                        Duration.ofMillis(500),
                        Duration.ofMillis(250),
                        0,
                        1,
                        4,
                        Optional.of(8_081),
                        Optional.of("10.0.0.9"),
                        Optional.of("10.0.0.8"),
                        HealthConfig.Initial.DOWN,
                        HealthConfig.OnDown.CUT,
                        Optional.empty())),
                backend(
                                "health",
                                "{type: tcp, close: reset, interval: 5s, fast-interval: 500ms, timeout: 250ms, jitter: 0%,"
                                        + " rise: 1, fall: 4, port: 8081, address: 10.0.0.9, source: 10.0.0.8,"
                                        + " initial: down, on-down: cut, max-hold-down: off}")
                        .health());
    }

    @Test
    void theFastIntervalIsTheIntervalUnlessGiven() {
        HealthConfig health =
                backend("health", "{type: tcp, interval: 7s}").health().orElseThrow();
        assertEquals(Duration.ofSeconds(7), health.fastInterval());
    }

    @Test
    void aDialogueKeepsItsOrder() {
        assertEquals(
                new HealthConfig.SendExpect(
                        List.of(
                                new Step(Kind.EXPECT_REGEX, "^220[ -]"),
                                new Step(Kind.SEND, "QUIT\r\n"),
                                new Step(Kind.SEND_HEX, "0d0A"),
                                new Step(Kind.EXPECT, "221"),
                                new Step(Kind.EXPECT_HEX, "0d0a")),
                        Optional.of("^421")),
                check("{type: send-expect, not-ready: \"^421\", steps: [{expect-regex: \"^220[ -]\"},"
                        + " {send: \"QUIT\\r\\n\"}, {send-hex: 0d0A}, {expect: \"221\"}, {expect-hex: 0d0a}]}"));
    }

    @Test
    void aRequestHasItsDefaultsAndItsKeys() {
        assertEquals(
                new HealthConfig.Http(
                        "GET",
                        "/",
                        Optional.empty(),
                        List.of(),
                        List.of(new StatusRange(200, 399)),
                        List.of(),
                        Optional.empty(),
                        false),
                check("{type: http}"));
        assertEquals(
                new HealthConfig.Http(
                        "POST",
                        "/live?deep=1",
                        Optional.of("app.internal:8080"),
                        List.of("X-A: b c", "Accept: */*"),
                        List.of(new StatusRange(204, 204), new StatusRange(300, 302)),
                        List.of(new StatusRange(503, 503)),
                        Optional.of("\"ok\""),
                        true),
                check("{type: http, method: POST, path: /live?deep=1, host: \"app.internal:8080\", headers:"
                        + " [\"X-A:   b c \", \"Accept: */*\"], expect-status: [204, 300-302], not-ready-status: \"503\","
                        + " expect-body: '\"ok\"', http-version: h2c}"));
    }

    @Test
    void theOtherChecksHaveTheirKeys() {
        assertEquals(new HealthConfig.Grpc("", Optional.empty()), check("{type: grpc}"));
        assertEquals(
                new HealthConfig.Grpc("shop.v1.Cart", Optional.of("carts")),
                check("{type: grpc, service: shop.v1.Cart, host: carts}"));
        assertEquals(new HealthConfig.Tls(Optional.empty(), Optional.empty()), check("{type: tls}"));
        assertEquals(
                new HealthConfig.Tls(Optional.of("app.internal"), Optional.of("ca.pem")),
                check("{type: tls, server-name: App.Internal, ca: ca.pem}"));
        assertEquals(
                new HealthConfig.Exec(List.of("/bin/check", "--port", "80", "")),
                check("{type: exec, command: [/bin/check, --port, \"80\", \"\"]}"));
        assertEquals(new HealthConfig.Exec(List.of("/bin/check")), check("{type: exec, command: /bin/check}"));
    }

    @Test
    void theOtherGroupsHaveTheirKeys() {
        assertEquals(
                Optional.of(new OutlierConfig(
                        3,
                        Optional.of(25),
                        100,
                        Duration.ofSeconds(30),
                        Optional.of(Duration.ofSeconds(5)),
                        Duration.ofSeconds(10),
                        Duration.ofMinutes(1),
                        10)),
                backend(
                                "outlier",
                                "{consecutive-failures: 3, failure-rate: 25%, min-connections: 100, interval: 30s,"
                                        + " first-byte: 5s, ejection: 10s, max-ejection: 1m, max-ejected: 10%}")
                        .outlier());
        assertEquals(
                Optional.of(new BreakerConfig(2, Duration.ofSeconds(1), 3)),
                backend("breaker", "{consecutive-failures: 2, open: 1s, trials: 3}")
                        .breaker());
        assertEquals(
                Optional.of(new RetryBudgetConfig(0, 3)),
                backend("retry-budget", "{ratio: 0%, min-per-second: 3}").retryBudget());
        assertEquals(
                Optional.of(new SlowStartConfig(Duration.ofMinutes(1), 1.5, 5)),
                backend("slow-start", "{window: 1m, aggression: 1.5, min-weight: 5%}")
                        .slowStart());
        assertEquals(
                new PanicConfig(0, false),
                backend("panic", "{threshold: 0%, mode: refuse}").panic());
    }

    @Test
    void offIsOffAndEmptyKeysAreTheDefaults() {
        assertEquals(Optional.empty(), backend("outlier", "off").outlier());
        assertEquals(
                Optional.of(OutlierConfig.DEFAULT), backend("outlier", "{}").outlier());
        assertEquals(Optional.empty(), backend("breaker", "off").breaker());
        assertEquals(
                Optional.of(new BreakerConfig(5, Duration.ofSeconds(10), 1)),
                backend("breaker", "{}").breaker());
        assertEquals(Optional.empty(), backend("retry-budget", "off").retryBudget());
        assertEquals(Optional.empty(), backend("slow-start", "off").slowStart());
        assertEquals(
                Optional.of(new SlowStartConfig(Duration.ofSeconds(30), 1, 10)),
                backend("slow-start", "{}").slowStart());
        assertEquals(PanicConfig.DEFAULT, backend("panic", "{}").panic());
        assertEquals(new PanicConfig(0, true), backend("panic", "off").panic());
        assertEquals(Optional.empty(), backend("health", "off").health());
    }

    @Test
    void aLongEjectionTakesTheLongestAlong() {
        assertEquals(
                Duration.ofMinutes(10),
                backend("outlier", "{ejection: 10m}").outlier().orElseThrow().maxEjection());
        assertEquals(
                Duration.ofMinutes(5),
                backend("outlier", "{ejection: 1m}").outlier().orElseThrow().maxEjection());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            maxCharsPerColumn = 10_000,
            value = {
                "{} | health.type: the key is missing; it is required: what a check does",
                "{type: https} | health.type: \"https\" is not in this version: tls checks the handshake alone; write one of"
                        + " tcp, send-expect, http, grpc, tls, exec",
                "{type: sendexpect} | health.type: \"sendexpect\" is unknown; did you mean send-expect?",
                "on | health: \"on\" is neither keys nor off; write KEY: VALUE lines, or off",
                "{type: tcp, path: /} | health.path: path is for type http; this check is tcp; remove it, or write type: http",
                "{type: exec, command: /x, source: 10.0.0.1} | health.source: source is for types tcp, send-expect, http, grpc"
                        + " and tls; this check is exec",
                "{type: http, expect-status: 101} | health.expect-status: status 101 is never the final one of an answer; write"
                        + " one of 200..599 or a range of them",
                "{type: http, not-ready-status: 100-199} | health.not-ready-status: status 100-199 is never the final one",
                "{type: http, expect-status: [204, 304], expect-body: ok} | health.expect-body: no answer with a status of"
                        + " expect-status has a body; let another status pass, or remove expect-body",
                "{type: http, expect-body: x*} | health.expect-body: \"x*\" needs no character and is found in anything; write"
                        + " what shall be found",
                "{type: http, expect-body: ^.*$} | health.expect-body: \"^.*$\" needs no character and is found in anything",
                "{type: send-expect, steps: [{expect-regex: .*}]} | health.steps[0].expect-regex: \".*\" needs no character",
                "{type: send-expect, steps: [{expect: a}], not-ready: (a)?} | health.not-ready: \"(a)?\" needs no character",
                "{type: http, host: \"x:99999\"} | health.host: \"x:99999\": its port is out of range; write a port in"
                        + " 1..65535, or none",
                "{type: grpc, host: \"[::1]:0\"} | health.host: \"[::1]:0\": its port is out of range",
                "{type: tcp, host: a} | health.host: host is for types http and grpc; this check is tcp",
                "{type: http, close: fin} | health.close: close is for type tcp; this check is http",
                "{type: exec, command: /x, ca: /y} | health.ca: ca is for type tls; this check is exec",
                "{type: tcp, steps: [{expect: a}]} | health.steps: steps is for type send-expect; this check is tcp",
                "{type: tcp, close: rst} | health.close: \"rst\" is unknown; write one of fin, reset",
                "{type: tcp, port: 0} | health.port: \"0\" is out of range; write a whole number in 1..65535",
                "{type: tcp, port: 65536} | health.port: \"65536\" is out of range",
                "{type: tcp, address: localhost} | health.address: \"localhost\" is no IP address; write an IP address without"
                        + " a port, as in 10.0.0.1 or 2001:db8::1",
                "{type: tcp, address: \"10.0.0.1:80\"} | health.address: \"10.0.0.1:80\" is no IP address",
                "{type: tcp, address: \"[::1]\"} | health.address: \"[::1]\" has brackets, which only a port makes needful;"
                        + " write ::1",
                "{type: tcp, address: \"fe80::1%eth0\"} | health.address: \"fe80::1%eth0\" has a zone id",
                "{type: tcp, source: 0.0.0.0} | health.source: \"0.0.0.0\" is not the address of one host",
                "{type: tcp, source: 224.0.0.1} | health.source: \"224.0.0.1\" is not the address of one host",
                "{type: tcp, source: \"::1\"} | health.source: source ::1 cannot reach 127.0.0.1:8081, which is IPv4; write an"
                        + " address of the same family",
                "{type: tcp, source: 10.0.0.1, address: \"::1\"} | health.source: source 10.0.0.1 cannot reach ::1, which is"
                        + " IPv6",
                "{type: tcp, interval: 1s, fast-interval: 2s} | health.fast-interval: the fast interval 2s is longer than the"
                        + " interval 1s; make it at most the interval",
                "{type: tcp, fast-interval: 3s} | health.fast-interval: the fast interval 3s is longer than the interval 2s",
                "{type: tcp, max-hold-down: 0} | health.max-hold-down: \"0\" has no unit; write off to hold none down, or a"
                        + " duration in 1s..1d",
                "{type: tcp, on-down: close} | health.on-down: \"close\" is unknown; write one of keep, drain, cut",
                "{type: tcp, initial: unchecked} | health.initial: \"unchecked\" is unknown",
                "{type: send-expect} | health.steps: the key is missing; type send-expect needs it: for `send-expect`",
                "{type: send-expect, steps: []} | health.steps: the list is empty; give at least one element",
                "{type: send-expect, steps: [{send: a}]} | health.steps: no step expects anything, so that whoever takes a"
                        + " connection passes, as with type tcp; add a step with expect, expect-hex or expect-regex, or write"
                        + " type: tcp",
                "{type: send-expect, steps: [{}]} | health.steps[0]: the step does nothing; give it one of send, send-hex,"
                        + " expect, expect-hex, expect-regex",
                "{type: send-expect, steps: [{send: a, expect: b}]} | health.steps[0]: the step has send and expect; make a"
                        + " step of each, in the order in which they shall come",
                "{type: send-expect, steps: [{expect: \"\"}]} | health.steps[0].expect: the text is empty",
                "{type: send-expect, steps: [{expect: 220}]} | health.steps[0].expect: \"220\" is a number, not text; write"
                        + " text, in quotes if it is meant so",
                "{type: send-expect, steps: [{expect-hex: 0d0}]} | health.steps[0].expect-hex: \"0d0\" is not bytes in"
                        + " hexadecimal; write two digits for each, as in 0d0a, and no spaces",
                "{type: send-expect, steps: [{expect-regex: \"a(\"}]} | health.steps[0].expect-regex: \"a(\" is no regular"
                        + " expression: Unclosed group",
                "{type: send-expect, steps: [{expect-regex: \"*\"}]} | health.steps[0].expect-regex: \"*\" is no regular"
                        + " expression: Dangling meta character '*' at character 1; mend it; a backslash before a character"
                        + " takes its meaning away",
                "{type: send-expect, steps: [{expect: a}], not-ready: \"\"} | health.not-ready: the expression is empty and"
                        + " found in anything",
                "{type: http, method: get} | health.method: \"get\" is not in capitals, and methods tell them apart; write GET",
                "{type: http, method: CONNECT} | health.method: method CONNECT asks for a tunnel",
                "{type: http, method: \"GET /\"} | health.method: \"GET /\" is no method",
                "{type: http, path: healthz} | health.path: \"healthz\" does not begin with a slash; write a path, as in"
                        + " /healthz",
                "{type: http, path: \"http://a/b\"} | health.path: \"http://a/b\" is a URL",
                "{type: http, path: \"/a b\"} | health.path: \"/a b\" has a character that a path has not",
                "{type: http, path: \"/a#b\"} | health.path: \"/a#b\" has a character that a path has not",
                "{type: http, host: \"a/b\"} | health.host: \"a/b\" is no host",
                "{type: http, headers: [{X-A: b}]} | health.headers[0]: this is a set of keys; write NAME: VALUE in quotes, as"
                        + " in \"Accept: text/plain\"",
                "{type: http, headers: \"X A: b\"} | health.headers: \"X A: b\" is no header",
                "{type: http, headers: [\"host: a\"]} | health.headers[0]: header Host has a key of its own; write it as host",
                "{type: http, headers: [\"Connection: close\"]} | health.headers[0]: header Connection is for the check itself"
                        + " to set; remove it",
                "{type: http, headers: [\"content-length: 0\"]} | health.headers[0]: header content-length is for the check"
                        + " itself to set",
                "{type: http, headers: [\"Transfer-Encoding: chunked\"]} | header Transfer-Encoding is for the check itself",
                "{type: http, headers: [\":authority: a\"]} | health.headers[0]: \":authority: a\" is no header",
                "{type: http, headers: [\"X-A:\"]} | health.headers[0]: header X-A has no value",
                "{type: http, expect-status: 5xx} | health.expect-status: \"5xx\" is no status; write 500-599",
                "{type: http, expect-status: [99]} | health.expect-status[0]: \"99\" is no status; write one of 100..599 or a"
                        + " range of them, as in 200 or 200-399",
                "{type: http, expect-status: 399-200} | health.expect-status: \"399-200\" ends before it begins; write"
                        + " 200-399",
                "{type: http, expect-status: []} | health.expect-status: the list is empty",
                "{type: http, not-ready-status: [503, 302]} | health.not-ready-status[1]: status 302 is in 200-399 of"
                        + " expect-status, which passes; let each status mean one thing",
                "{type: http, expect-status: [200, 503], not-ready-status: 500-599} | health.not-ready-status: status 500-599"
                        + " is in 503 of expect-status, which passes",
                "{type: http, method: HEAD, expect-body: ok} | health.expect-body: an answer to HEAD has no body; write"
                        + " method: GET, or remove expect-body",
                "{type: http, http-version: 2} | health.http-version: \"2\" is unknown; write one of 1.1, h2c",
                "{type: grpc, service: \"a\\tb\"} | is no name of a service",
                "{type: tls, server-name: 10.0.0.1} | health.server-name: \"10.0.0.1\" is an address, and TLS asks for names"
                        + " only; write a name, or remove the key",
                "{type: tls, server-name: \"a:443\"} | health.server-name: \"a:443\" is no host name",
                "{type: tls, server-name: a_b} | health.server-name: \"a_b\" is no name that TLS can ask for; write one of"
                        + " letters, digits, hyphens and dots",
                "{type: tls, ca: \"\"} | health.ca: the path is empty",
                "{type: exec} | health.command: the key is missing; type exec needs it: for `exec`: the program",
                "{type: exec, command: [check]} | health.command[0]: program \"check\" is not an absolute path; write it from"
                        + " the root on, as in /usr/local/bin/check; none is looked for in $PATH",
                "{type: exec, command: [/bin/]} | health.command[0]: path \"/bin/\" is a directory",
                "{type: exec, command: [/bin/x, 80]} | health.command[1]: \"80\" is a number, not text",
            })
    void aCheckThatCouldNotWorkIsRefused(String yaml, String expected) {
        ConfigResult result = read("health", yaml);
        List<String> lines = problems("health", yaml);
        assertTrue(result.config().isEmpty(), "accepted");
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).contains(expected), lines.get(0));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "outlier | true | outlier: \"true\" is neither keys nor off; write KEY: VALUE lines, {} for their defaults, or"
                        + " off",
                "outlier | [] | outlier: this is a list; write KEY: VALUE lines with consecutive-failures, failure-rate,"
                        + " min-connections, interval, first-byte, ejection, max-ejection, max-ejected, {} for their defaults,"
                        + " or off",
                "outlier | ~ | outlier: there is no value; write KEY: VALUE lines",
                "outlier | {ejection: 1m, max-ejection: 30s} | outlier.max-ejection: the longest ejection 30s is shorter than"
                        + " the first, 1m; make it at least outlier.ejection",
                "outlier | {max-ejection: 10s} | outlier.max-ejection: the longest ejection 10s is shorter than the first, 30s",
                "outlier | {failure-rate: 0%} | outlier.failure-rate: \"0%\" is out of range; write a share in 1%..100%",
                "outlier | {failure-rate: 0} | outlier.failure-rate: \"0\" has no unit; write off to leave the rate out of"
                        + " account, or a share in 1%..100%",
                "outlier | {consecutive-errors: 5} | outlier.consecutive-errors: the key is unknown; known here:"
                        + " consecutive-failures",
                "outlier | {trials: 5} | outlier.trials: the key does not belong here; it is known as backends[].breaker.trials",
                "breaker | on | breaker: \"on\" is neither keys nor off",
                "breaker | {open: 0s} | breaker.open: \"0s\" is out of range; write a duration in 100ms..1h",
                "retry-budget | 20% | retry-budget: \"20%\" is neither keys nor off",
                "retry-budget | {ratio: 0.2} | retry-budget.ratio: \"0.2\" is not a share of whole percents",
                "slow-start | 30s | slow-start: \"30s\" is neither keys nor off",
                "slow-start | {aggression: 0} | slow-start.aggression: \"0\" is out of range; write a number in 0.1..10",
                "slow-start | {aggression: 10.01} | slow-start.aggression: \"10.01\" is out of range",
                "slow-start | {aggression: -1} | slow-start.aggression: \"-1\" is negative; write a number in 0.1..10",
                "slow-start | {aggression: 1e0} | slow-start.aggression: \"1e0\" is not a number of at most nine digits before"
                        + " and after a point; write a number in 0.1..10, as in 1.5",
                "slow-start | {aggression: .inf} | slow-start.aggression: \".inf\" is not a number",
                "slow-start | {aggression: .nan} | slow-start.aggression: \".nan\" is not a number",
                "slow-start | {aggression: \"1.5\"} | slow-start.aggression: \"1.5\" is text, not a number; write 1.5 without"
                        + " quotes",
                "panic | on | panic: \"on\" is neither keys nor off",
                "panic | {mode: fail} | panic.mode: \"fail\" is unknown; write one of spread, refuse",
                "endpoints[].health | {type: tcp} | endpoints[0].health: the key does not belong here; it is known as"
                        + " backends[].health",
            })
    void aGroupThatCouldNotWorkIsRefused(String group, String yaml, String expected) {
        ConfigResult result = read(group, yaml);
        List<String> lines = problems(group, yaml);
        assertTrue(result.config().isEmpty(), "accepted");
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).startsWith(expected), lines.get(0));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{type: tcp, timeout: 3s} | health.timeout: warning: a check may take 3s, longer than the interval 2s, so that"
                        + " the next one waits for it; make health.timeout at most health.interval",
                "{type: tcp, interval: 500ms} | health.interval: warning: a check may take 1s, longer than the interval 500ms",
                "{type: exec, command: \"/bin/check --quick\"} | health.command: warning: \"/bin/check --quick\" is taken for"
                        + " one path, since no shell takes it apart; write a list of the program and its arguments, as in"
                        + " [/usr/local/bin/check, --quick]",
            })
    void aCheckThatIsHardlyMeantSoIsAWarning(String yaml, String expected) {
        List<String> lines = problems("health", yaml);
        assertTrue(read("health", yaml).config().isPresent());
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).startsWith(expected), lines.get(0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{type: http, expect-status: 100-399}",
                "{type: http, expect-status: [204, 200], expect-body: ok}",
                "{type: http, expect-body: ^$}",
                "{type: http, expect-body: \"^(?!ERROR)\"}",
                "{type: http, host: \"x:65535\"}",
                "{type: http, host: \"[2001:db8::1]\"}",
            })
    void whatMayWorkIsTaken(String yaml) {
        assertEquals(List.of(), problems("health", yaml));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "outlier: {interval: 5s} | outlier.interval: warning: without failure-rate it means nothing; remove it, or set"
                        + " outlier.failure-rate",
                "outlier: {min-connections: 5, failure-rate: off} | outlier.min-connections: warning: without failure-rate",
                "connect: {attempts: 1}, retry-budget: {ratio: 10%} | retry-budget: warning: with connect.attempts 1 nothing is"
                        + " tried again, so that the budget is for nothing; remove it, or allow more attempts",
            })
    void whatMeansNothingIsAWarning(String keys, String expected) {
        ConfigResult result = ConfigText.read("frontends: [{name: edge, listen: \"127.0.0.1:1\", backend: web}]\n"
                + "backends: [{name: web, endpoints: [{address: \"10.0.0.1:80\"}], " + keys + "}]\n");
        List<String> lines = ConfigText.lines(result);
        assertTrue(result.config().isPresent(), lines::toString);
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).contains("backends.web." + expected), lines.get(0));
    }

    @ParameterizedTest
    @CsvSource({
        "'port: 8081, address: 10.0.0.9', '\"10.0.0.1:80\"', '\"10.0.0.2:81\"', 1",
        "'address: 10.0.0.9', '\"10.0.0.1:80\"', '\"10.0.0.2:80\"', 1",
        "'address: 10.0.0.9', '\"10.0.0.1:80\"', '\"10.0.0.2:81\"', 0",
        "'port: 8081', '\"10.0.0.1:80\"', '\"10.0.0.2:80\"', 0",
    })
    void oneCheckForAllEndpointsIsAWarning(String keys, String first, String second, int warnings) {
        ConfigResult result = ConfigText.read("frontends: [{name: edge, listen: \"127.0.0.1:1\", backend: web}]\n"
                + "backends: [{name: web, endpoints: [{address: " + first + "}, {address: " + second + "}],"
                + " health: {type: tcp, " + keys + "}}]\n");
        List<String> lines = ConfigText.lines(result);
        assertTrue(result.config().isPresent(), lines::toString);
        assertEquals(warnings, lines.size(), lines::toString);
        assertTrue(
                lines.stream()
                        .allMatch(line ->
                                line.endsWith("backends.web.health.address: warning: every endpoint's check goes to"
                                        + " the same place, so that they go up and down together; remove it, so that each endpoint"
                                        + " is checked itself")),
                lines::toString);
    }

    @Test
    void aSourceSuitsAnEndpointThatIsANameWhateverItsFamily() {
        ConfigResult result = ConfigText.valid()
                .with("backends[].endpoints[].address", "\"db.internal:5432\"")
                .with("backends[].health", "{type: tcp, source: \"2001:db8::1\"}")
                .read();
        assertEquals(List.of(), ConfigText.lines(result));
    }

    @Test
    void whatAnotherProblemExplainsIsNotToldTwice() {
        assertEquals(2, problems("health", "{type: tpc, path: x, ca: \"y\"}").size(), "the type and the path");
        assertEquals(
                1,
                problems("health", "{type: http, interval: 1ms, fast-interval: 1s}")
                        .size());
        assertEquals(
                1,
                problems("health", "{type: tcp, address: x, source: \"::1\"}").size());
        assertEquals(
                1,
                problems("health", "{type: http, expect-status: x, not-ready-status: 200}")
                        .size());
        assertEquals(
                1,
                problems("health", "{type: send-expect, steps: [{expect: \"\"}]}")
                        .size());
        assertEquals(1, problems("health", "{type: send-expect, steps: {}}").size());
        assertEquals(1, problems("health", "{type: send-expect, steps: [PING]}").size());
        assertEquals(1, problems("outlier", "{ejection: 2d, max-ejection: 1s}").size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{type: http, expect-body: \"LONG\"}",
                "{type: http, expect-body: \"BRACKETS\"}",
                "{type: http, expect-body: \"CLASSES\"}",
                "{type: http, headers: [MANY]}",
                "{type: http, expect-status: [STATUSES]}",
                "{type: send-expect, steps: [STEPS]}",
                "{type: exec, command: [/x, MANY]}",
                "{type: grpc, service: \"LONG\"}",
                "{type: http, host: \"LONG\"}",
                "{type: http, method: \"LONG\"}",
                "{type: tls, server-name: \"LONG\"}",
                "{type: tcp, address: \"LONG\"}",
                "{type: tcp, port: DIGITS}",
            })
    void whatIsTooMuchIsRefusedInOneShortLine(String yaml) {
        String much = yaml.replace("LONG", "a".repeat(1_001))
                .replace("BRACKETS", "(".repeat(500) + ")".repeat(500))
                .replace("CLASSES", "[".repeat(101) + "a" + "]".repeat(101))
                .replace("MANY", "\"A: b\", ".repeat(120))
                .replace("STATUSES", "200, ".repeat(33))
                .replace("STEPS", "{expect: a}, ".repeat(33))
                .replace("DIGITS", "9".repeat(4_000));
        List<String> lines = problems("health", much);
        assertTrue(read("health", much).config().isEmpty(), "accepted");
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).length() < 250, lines.get(0));
    }

    @Test
    void anExpressionUpToItsBoundsIsTaken() {
        String brackets = "(".repeat(100) + "a".repeat(800) + ")".repeat(100);
        HealthConfig.Http http = (HealthConfig.Http) check("{type: http, expect-body: \"" + brackets + "\"}");
        assertEquals(Optional.of(brackets), http.expectBody());
    }
}
