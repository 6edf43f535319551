package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ConfigReaderTest {
    private static final String FRONTENDS = "frontends: [{name: edge, listen: \"127.0.0.1:1\", backend: web}]";
    private static final String BACKENDS = "backends: [{name: web, endpoints: [{address: \"10.0.0.1:80\"}]}]";

    @Test
    void whatIsAbsentHasItsDocumentedDefault() {
        Config config = ConfigText.valid().read().config().orElseThrow();

        assertEquals(
                new ProcessConfig(
                        OptionalInt.empty(),
                        ProcessConfig.Transport.AUTO,
                        OptionalInt.empty(),
                        Optional.empty(),
                        Optional.of(Duration.ofSeconds(1)),
                        new ShutdownConfig(Duration.ofMinutes(5), Duration.ofSeconds(10), Duration.ZERO)),
                config.process());
        assertEquals(AdminConfig.NONE, config.admin());
        assertEquals(
                new LogConfig(LogConfig.Level.INFO, new AccessLogConfig("stdout", AccessLogConfig.Format.JSON)),
                config.log());
        assertEquals(
                List.of(new FrontendConfig(
                        "edge",
                        List.of(new ListenAddress.Tcp("127.0.0.1", 8080)),
                        "web",
                        FrontendConfig.Protocol.AUTO,
                        OptionalInt.empty(),
                        new TimeoutsConfig(
                                Optional.of(Duration.ofHours(1)),
                                Optional.of(Duration.ofMinutes(1)),
                                Optional.of(Duration.ofMinutes(5))),
                        new LifetimeConfig(
                                Optional.empty(),
                                20,
                                OptionalInt.empty(),
                                OptionalLong.empty(),
                                Duration.ofMinutes(5),
                                Duration.ofSeconds(5),
                                Duration.ofSeconds(2)))),
                config.frontends());
        assertEquals(
                List.of(new BackendConfig(
                        "web",
                        BackendConfig.Balance.POWER_OF_TWO,
                        List.of(new EndpointConfig(
                                "127.0.0.1:8081",
                                new EndpointAddress("127.0.0.1", 8081, true),
                                1,
                                OptionalInt.empty())),
                        new ConnectConfig(
                                Duration.ofSeconds(2), 3, Duration.ofSeconds(5), ConnectConfig.ProxyProtocol.OFF),
                        new RebalanceConfig(false, Duration.ofMinutes(2), 110))),
                config.backends());
    }

    @Test
    void anAdminAddressBeyondLoopbackNeedsBothTokensAndTls() {
        String address = "admin: {listen: [\"127.0.0.1:9\", \"[::]:9901\"], ";
        String tls = "tls: {certificate: /c.pem, key: k.pem}";
        assertEquals(List.of(), ConfigText.problems(address + "token-file: t, " + tls + "}", FRONTENDS, BACKENDS));
        assertEquals(
                List.of(
                        "t.yaml:1:33: admin.listen[1]: address [::]:9901 is beyond loopback, which needs admin.tls; give"
                                + " admin.tls, or write unix:/PATH or 127.0.0.1:9901"),
                ConfigText.problems(address + "token-file: t}", FRONTENDS, BACKENDS));
        assertEquals(
                List.of(
                        "t.yaml:1:33: admin.listen[1]: address [::]:9901 is beyond loopback, which needs admin.token-file;"
                                + " give admin.token-file, or write unix:/PATH or 127.0.0.1:9901"),
                ConfigText.problems(address + tls + "}", FRONTENDS, BACKENDS));
    }

    @Test
    void socketsFromSystemdNeedATransportThatCanTakeThem() {
        String frontends = "frontends: [{name: web, listen: [\"systemd:web\", \"0.0.0.0:1\"], backend: web}]";
        for (String transport : List.of("auto", "epoll")) {
            assertEquals(
                    List.of(), ConfigText.problems("process: {transport: " + transport + "}", frontends, BACKENDS));
        }
        for (String transport : List.of("io_uring", "nio")) {
            assertEquals(
                    List.of(
                            "t.yaml:2:34: frontends.web.listen[0]: address systemd:web cannot be had with process.transport "
                                    + transport
                                    + ", which takes no socket from outside; use process.transport auto or epoll, or"
                                    + " write HOST:PORT"),
                    ConfigText.problems("process: {transport: " + transport + "}", frontends, BACKENDS));
        }
    }

    @Test
    void aNameOfSystemdsIsOneListenersAlone() {
        assertEquals(
                List.of(
                        "t.yaml:2:33: frontends.web.listen: address systemd:web is already listened on by admin.listen at"
                                + " line 1; give each listener an address of its own"),
                ConfigText.problems(
                        "admin: {listen: \"systemd:web\"}",
                        "frontends: [{name: web, listen: \"systemd:web\", backend: web}]",
                        BACKENDS));
    }

    @Test
    void aRefusedTokenFileIsToldOfOnce() {
        assertEquals(
                List.of("t.yaml:1:42: admin.token-file: the path is empty; write a file's path"),
                ConfigText.problems(
                        "admin: {listen: \"0.0.0.0:2\", token-file: \"\", tls: {certificate: c, key: k}}",
                        FRONTENDS,
                        BACKENDS));
    }

    @Test
    void theSpreadDefaultsToHalfOfAShortDeadline() {
        ConfigResult result =
                ConfigText.valid().with("process.shutdown.deadline", "4s").read();
        assertEquals(
                Duration.ofSeconds(2),
                result.config().orElseThrow().process().shutdown().spread());
    }

    @Test
    void aLineTellsFilePlaceKeyWhatIsWrongAndWhatWouldBeRight() {
        assertEquals(
                List.of(
                        "t.yaml:2:12: process.workers: \"300\" is out of range; write a whole number in 1..256, or auto"),
                ConfigText.problems("process:", "  workers: 300", FRONTENDS, BACKENDS));
    }

    @Test
    void allProblemsComeAtOnceInFileOrder() {
        List<String> lines = ConfigText.problems(
                "log: {level: loud}",
                "proces: {}",
                "frontends:",
                "  - name: edge",
                "    listen: \"127.0.0.1:99999\"",
                "    backend: wbe",
                "    timeouts: {idle: 10}",
                "backends:",
                "  - name: web",
                "    endpoints:",
                "      - {name: a, address: \"10.0.0.1:80\", weigth: 2}",
                "      - {address: \"::1:7001\"}");
        assertEquals(
                List.of(
                        "t.yaml:1:14: log.level: \"loud\" is unknown; write one of error, warn, info, debug, trace",
                        "t.yaml:2:1: proces: the key is unknown; did you mean process?",
                        "t.yaml:5:13: frontends.edge.listen: \"127.0.0.1:99999\": port 99999 is out of range;"
                                + " write a port in 0..65535",
                        "t.yaml:6:14: frontends.edge.backend: backend \"wbe\" is unknown; did you mean web?",
                        "t.yaml:7:22: frontends.edge.timeouts.idle: \"10\" has no unit; write 10s for seconds or 10ms",
                        "t.yaml:11:43: backends.web.endpoints.a.weigth: the key is unknown; did you mean weight?",
                        "t.yaml:12:19: backends.web.endpoints[1].address: \"::1:7001\" is ambiguous: an IPv6 host needs"
                                + " brackets; write [::1]:7001"),
                lines);
    }

    // https://github.com/K0M15/webserv/issues/62: a slip of the pen only warned, and the setting was off.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "process.worker | 1 | the key is unknown; did you mean workers?",
                "process.maxConnections | 1 | the key is unknown; did you mean max-connections?",
                "process.max_connections | 1 | the key is unknown; did you mean max-connections?",
                "process.zzz | 1 | the key is unknown; known here: workers, transport, max-connections, state-dir,"
                        + " warm-up, shutdown",
                "process.warm-up | 0 | \"0\" has no unit; write off to listen at once, or a duration in 10ms..2s",
                "process.warm-up | 3s | \"3s\" is out of range; write a duration in 10ms..2s, or off",
                "process.weight | 1 | the key does not belong here; it is known as backends[].endpoints[].weight",
                "frontends[].idle | 1h | the key does not belong here; it is known as frontends[].timeouts.idle",
                "frontends[].max-age | 1h | the key does not belong here; it is known as frontends[].lifetime.max-age",
                "frontends[].lifetime.max_age | 1h | the key is unknown; did you mean max-age?",
                "frontends[].lifetime.max-age | 0 | \"0\" has no unit; write off for no limit, or a duration in 10ms..365d",
                "frontends[].lifetime.max-age | 0s | \"0s\" is out of range; write a duration in 10ms..365d, or off",
                "frontends[].lifetime.max-age | -1 | \"-1\" is negative; write off for no limit, or a duration",
                "frontends[].lifetime.max-age | unlimited | write off for no limit, or a duration in 10ms..365d",
                "frontends[].lifetime.max-age | false | write off for no limit",
                "frontends[].lifetime.max-age | 3600 | \"3600\" has no unit; write 3600s for seconds or 3600ms",
                "frontends[].lifetime.jitter | 101% | \"101%\" is out of range; write a share in 0%..100%",
                "frontends[].lifetime.jitter | -1% | \"-1%\" is negative; write a share in 0%..100%",
                "frontends[].lifetime.jitter | 20 | \"20\" has no unit; write a share in 0%..100%, as in 20%",
                "frontends[].lifetime.jitter | 0.2 | \"0.2\" is not a share of whole percents; write a share in 0%..100%",
                "frontends[].lifetime.jitter | off | \"off\" is not a share of whole percents; write a share in 0%..100%",
                "frontends[].lifetime.max-requests | 0 | \"0\" is out of range; write off for no limit, or a whole number"
                        + " in 1..100000000",
                "frontends[].lifetime.max-requests | -1 | \"-1\" is negative; write off for no limit, or a whole number",
                "frontends[].lifetime.max-requests | 1e6 | \"1e6\" is not a plain whole number",
                "frontends[].lifetime.max-bytes | 0 | \"0\" has no unit; write off for no limit, or a size in 1B..1024TiB",
                "frontends[].lifetime.max-bytes | 0B | \"0B\" is out of range; write a size in 1B..1024TiB, or off",
                "frontends[].lifetime.max-bytes | -1 | \"-1\" is negative; write off for no limit, or a size",
                "frontends[].lifetime.max-bytes | 10GB | \"10GB\" is not a size; write 10GiB",
                "frontends[].lifetime.max-bytes | 100 | \"100\" has no unit; write 100B for bytes or 100MiB",
                "frontends[].lifetime.grace | off | \"off\" is not a duration",
                "frontends[].lifetime.quiet | 0s | \"0s\" is out of range; write a duration in 10ms..1h",
                "frontends[].lifetime.linger | 0s | \"0s\" is out of range; write a duration in 10ms..5m",
                "frontends[].lifetime | off | this is text; write KEY: VALUE lines with max-age, jitter",
                "frontends[].protocol | http | \"http\" is unknown; did you mean http1? It is one of auto, tcp, http1, http2",
                "frontends[].protocol | HTTP/2 | \"HTTP/2\" is unknown; did you mean http2?",
                "frontends[].protocol | tls | \"tls\" is unknown; write one of auto, tcp, http1, http2",
                "backends[].rebalance.on-join | yes | \"yes\" is neither true nor false; write true or false",
                "backends[].rebalance.on-join | on | \"on\" is neither true nor false; write true or false",
                "backends[].rebalance.on-join | [true] | this is a list; write true or false",
                "backends[].rebalance.on_join | true | the key is unknown; did you mean on-join?",
                "backends[].rebalance.max-share | 99% | \"99%\" is out of range; write a share in 100%..1000%",
                "backends[].rebalance.max-share | 1.1 | \"1.1\" is not a share of whole percents",
                "backends[].rebalance.spread | 120 | \"120\" has no unit; write 120s for seconds or 120ms",
                "backends[].rebalance | true | this is a truth value; write KEY: VALUE lines with on-join, spread",
                "backends[].balance | maglev | \"maglev\" is not in this version; write one of round-robin",
                "backends[].balance | leastconnections | did you mean least-connections?",
                "process.workers | two | \"two\" is not a number; write a whole number in 1..256, or auto",
                "process.workers | '\"2\"' | \"2\" is text, not a number; write 2 without quotes",
                "process.workers | 0x10 | \"0x10\" is not a plain whole number",
                "process.workers | 1_0 | \"1_0\" is not a number",
                "process.workers | 010 | \"010\" begins with a zero",
                "process.workers | [1] | this is a list; write a whole number",
                "process.workers | {a: 1} | this is a set of keys; write a whole number",
                "process.workers | ~ | there is no value; write a whole number",
                "process.workers |  | there is no value; write a whole number",
                "process | 5 | this is a number; write KEY: VALUE lines with workers, transport",
                "process |  | there is no value; write KEY: VALUE lines",
                "frontends[].name | 8080 | \"8080\" is a number, not text",
                "frontends[].name | true | \"true\" is a truth value, not text",
                "frontends[].name | a b | name \"a b\" is not allowed; use 1 to 63 letters",
                "frontends[].name | '\"\"' | name \"\" is not allowed",
                "frontends[].listen | [] | the list is empty",
                "frontends[].listen | unix:/run/x.sock | frontends listen on TCP only in this version",
                "backends[].connect | [] | this is a list; write KEY: VALUE lines with timeout",
                "admin.listen | '\"0.0.0.0:9901\"' | address 0.0.0.0:9901 is beyond loopback, which needs"
                        + " admin.token-file and admin.tls; give admin.token-file and admin.tls, or write unix:/PATH or"
                        + " 127.0.0.1:9901",
                "admin.token-file | '\"\"' | the path is empty; write a file's path",
                "admin.token-file | /etc/tidegate/ | path \"/etc/tidegate/\" is a directory; write the path of a file",
                "admin.tls | {key: /k} | the key is missing; it is required: the server's certificate",
                "process.state-dir | '\"a\\tb\"' | has control characters; write a directory's path",
                "process.state-dir | '\"\"' | the path is empty; write a directory's path",
                "log.access.path | '\"\"' | the path is empty",
                "log.access.path | /var/log/ | is a directory",
            })
    void anUnknownKeyOrAWrongKindOfValueIsRefusedWithItsPathAndWhatWouldBeRight(
            String path, String value, String expected) {
        ConfigResult result =
                ConfigText.valid().with(path, value == null ? "" : value).read();
        List<String> lines = ConfigText.lines(result);
        assertTrue(result.config().isEmpty(), "accepted");
        assertTrue(
                lines.stream().anyMatch(line -> line.contains(expected)), () -> "no \"" + expected + "\" in " + lines);
    }

    @Test
    void aListThatIsNoneOrEmptyIsRefused() {
        assertEquals(
                List.of("t.yaml:2:35: backends.web.endpoints: the list is empty; give at least one element"),
                ConfigText.problems(FRONTENDS, "backends: [{name: web, endpoints: []}]"));
        assertEquals(
                List.of("t.yaml:2:35: backends.web.endpoints: this is a set of keys; write a list, each element after a"
                        + " dash"),
                ConfigText.problems(FRONTENDS, "backends: [{name: web, endpoints: {address: \"10.0.0.1:1\"}}]"));
        assertEquals(
                List.of("t.yaml:2:11: backends: this is text; write a list, each element after a dash"),
                ConfigText.problems(FRONTENDS, "backends: web"));
    }

    @Test
    void aMissingKeyIsToldWhereItShouldBe() {
        assertEquals(
                List.of(
                        "t.yaml:1:13: frontends[0].name: the key is missing; it is required: the frontend's name in logs,"
                                + " metrics and commands; unique among frontends",
                        "t.yaml:2:12: backends.web.endpoints: the key is missing; it is required: where the connections"
                                + " of this backend may go; at least one"),
                ConfigText.problems("frontends: [{listen: \"127.0.0.1:1\", backend: web}]", "backends: [{name: web}]"));
        assertEquals(
                List.of(
                        "t.yaml:1:1: frontends: the key is missing; give at least one, here or in an included file",
                        "t.yaml:1:1: backends: the key is missing; give at least one, here or in an included file"),
                ConfigText.problems("log: {level: info}"));
    }

    @Test
    void aMisspeltRequiredKeyIsOneProblemAndNotTwo() {
        assertEquals(
                List.of("t.yaml:2:24: backends.web.endponts: the key is unknown; did you mean endpoints?"),
                ConfigText.problems(FRONTENDS, "backends: [{name: web, endponts: [{address: \"10.0.0.1:1\"}]}]"));
    }

    /** It is not said to be the misspelt other one, so that one is missed. */
    @Test
    void aKeyOfAnotherPlaceDoesNotStandForARequiredOne() {
        assertEquals(
                List.of(
                        "t.yaml:1:13: frontends.f.backend: the key is missing; it is required: the backend that connections"
                                + " go to",
                        "t.yaml:1:46: frontends.f.backends: the key does not belong here; it is known as backends"),
                ConfigText.problems(
                        "frontends: [{name: f, listen: \"127.0.0.1:1\", backends: web}]",
                        "backends: [{name: web, endpoints: [{address: \"10.0.0.1:1\"}]}]"));
    }

    @Test
    void aKeyGivenTwiceIsRefusedWithBothPlaces() {
        assertEquals(
                List.of("t.yaml:3:1: log: the key is given twice, first at line 1; keep one of them"),
                ConfigText.problems("log: {level: info}", FRONTENDS, "log: {level: warn}", BACKENDS));
    }

    // https://github.com/haproxy/haproxy/issues/868: two frontends on one address, one of which was never reached.
    @Test
    void duplicatesAreRefusedWithBothPlaces() {
        List<String> lines = ConfigText.problems(
                "frontends:",
                "  - {name: a, listen: \"0.0.0.0:80\", backend: web}",
                "  - {name: a, listen: \"[::ffff:127.0.0.1]:80\", backend: web}",
                "  - {name: c, listen: [\"[::]:80\", \"127.0.0.1:81\"], backend: api}",
                "backends:",
                "  - name: web",
                "    endpoints:",
                "      - {name: x, address: \"10.0.0.1:80\"}",
                "      - {name: x, address: \"10.0.0.2:80\"}",
                "      - {name: y, address: \"[::ffff:10.0.0.1]:80\"}",
                "      - {name: \"10.0.0.9:80\", address: \"10.0.0.8:80\"}",
                "      - {address: \"10.0.0.9:80\"}",
                "  - {name: web, endpoints: [{address: \"10.0.0.1:80\"}]}",
                "admin: {listen: \"127.0.0.1:81\"}");
        assertEquals(
                List.of(
                        "t.yaml:3:12: frontends.a.name: frontend name \"a\" is already used at line 2; give each its own",
                        "t.yaml:3:23: frontends.a.listen: address 127.0.0.1:80 overlaps 0.0.0.0:80 of frontends.a.listen"
                                + " at line 2; give each listener an address of its own",
                        "t.yaml:4:61: frontends.c.backend: backend \"api\" is unknown; known: web",
                        "t.yaml:9:16: backends.web.endpoints.x.name: endpoint name \"x\" is already used at line 8;"
                                + " give each its own",
                        "t.yaml:10:28: backends.web.endpoints.y.address: address \"10.0.0.1:80\" is already used at"
                                + " line 8; give each its own",
                        "t.yaml:12:19: backends.web.endpoints[4].address: endpoint name \"10.0.0.9:80\" is already used"
                                + " at line 11; give each its own",
                        "t.yaml:13:12: backends.web.name: backend name \"web\" is already used at line 6; give each its"
                                + " own",
                        "t.yaml:14:17: admin.listen: address 127.0.0.1:81 is already listened on by"
                                + " frontends.c.listen[1] at line 4; give each listener an address of its own"),
                lines);
    }

    @Test
    void aWildcardAfterOneOfItsAddressesIsRefusedToo() {
        List<String> lines = ConfigText.problems(
                "frontends:",
                "  - {name: a, listen: [\"10.0.0.1:80\", \"10.0.0.2:80\", \"0.0.0.0:80\", \"[::1]:80\", \"[::]:80\"], backend: web}",
                "backends: [{name: web, endpoints: [{address: \"10.0.0.1:81\"}]}]");
        assertEquals(2, lines.size(), lines::toString);
        assertTrue(lines.get(0).contains("address 0.0.0.0:80 overlaps 10.0.0.1:80"), lines.get(0));
        assertTrue(lines.get(1).contains("address [::]:80 overlaps 10.0.0.1:80"), lines.get(1));
    }

    @Test
    void aBackendNobodyUsesIsAWarning() {
        ConfigResult result =
                ConfigText.read(FRONTENDS + "\nbackends:\n  - {name: web, endpoints: [{address: \"10.0.0.1:80\"}]}\n"
                        + "  - {name: old, endpoints: [{address: \"10.0.0.1:80\"}]}\n");
        assertTrue(result.config().isPresent());
        assertEquals(
                List.of("t.yaml:4:12: backends.old.name: warning: no frontend uses backend \"old\"; point a frontend's"
                        + " backend at it, or remove it"),
                ConfigText.lines(result));
    }

    // https://github.com/caddyserver/caddy/issues/6357: weight 0 was refused though people drain with it.
    @ParameterizedTest
    @CsvSource({
        "0, true",
        "1000, true",
        "-1, false",
        "1001, false",
        "1000000000, false",
        "2147483648, false",
        "0.5, false",
        "1e9, false",
        "-0, false",
        "+1, false"
    })
    void aWeightIsAWholeNumberUpToAThousandAndMayBeZero(String weight, boolean fine) {
        ConfigResult result =
                ConfigText.valid().with("backends[].endpoints[].weight", weight).read();
        assertEquals(
                fine,
                result.config().isPresent(),
                () -> ConfigText.lines(result).toString());
    }

    @Test
    void allWeightsZeroIsAWarning() {
        ConfigResult result =
                ConfigText.valid().with("backends[].endpoints[].weight", "0").read();
        assertTrue(result.config().isPresent());
        assertTrue(
                ConfigText.lines(result).get(0).contains("warning: every weight is 0, so no connection can be served"),
                () -> ConfigText.lines(result).toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "max-age: 1h, grace: 0s | grace: warning: a connection that is at work when it comes to its limit is cut at"
                        + " once; give it time to come to an end, as in 5m",
                "max-requests: 9, grace: 5s | grace: warning: the silence asked for, 5s, does not fit into the grace 5s, so"
                        + " that a connection which is not silent already is cut; make lifetime.quiet shorter than"
                        + " lifetime.grace",
                "max-bytes: 9B, quiet: 6m | quiet: warning: the silence asked for, 6m, does not fit into the grace 5m",
                "max-age: 1h, quiet: 1m, grace: 30s | quiet: warning: the silence asked for, 1m, does not fit",
            })
    void aGraceInWhichNothingCanEndWellIsAWarning(String lifetime, String expected) {
        ConfigResult result = ConfigText.valid()
                .with("frontends[].lifetime", "{" + lifetime + "}")
                .read();
        List<String> lines = ConfigText.lines(result);
        assertTrue(result.config().isPresent(), lines::toString);
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).contains("frontends.edge.lifetime." + expected), lines.get(0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "grace: 0s",
                "max-age: off, max-requests: off, max-bytes: off, grace: 1s",
                "max-age: 1s, quiet: 500ms",
                "max-age: 1h, grace: 6s",
                "max-age: 1h, jitter: 0%"
            })
    void aLifetimeThatCanEndConnectionsWellIsTakenAsItIs(String lifetime) {
        ConfigResult result = ConfigText.valid()
                .with("frontends[].lifetime", "{" + lifetime + "}")
                .read();
        assertEquals(List.of(), ConfigText.lines(result));
    }

    // https://github.com/envoyproxy/envoy/issues/8622: a timeout beyond its interval was accepted.
    @Test
    void valuesThatDoNotFitEachOtherAreTold() {
        assertEquals(
                List.of(
                        "t.yaml:1:30: process.shutdown.spread: the spread 30s is longer than the deadline 10s; make it at"
                                + " most the deadline",
                        "t.yaml:4:75: backends.web.connect.timeout: warning: one attempt's timeout 10s is longer than the"
                                + " deadline of all, 5s, which ends it first; make connect.deadline at least"
                                + " connect.timeout"),
                ConfigText.problems(
                        "process: {shutdown: {spread: 30s, deadline: 10s}}",
                        FRONTENDS,
                        "backends:",
                        "  - {name: web, endpoints: [{address: \"10.0.0.1:80\"}], connect: {timeout: 10s}}"));
    }

    @ParameterizedTest
    @CsvSource({"5m, 5m", "10m, 5m", "10s, 10s"})
    void aLameDuckTimeThatLeavesNoTimeToEndConnectionsIsAnError(String lameDuck, String deadline) {
        ConfigResult result = ConfigText.valid()
                .with("process.shutdown.lame-duck", lameDuck)
                .with("process.shutdown.deadline", deadline)
                .read();

        List<String> lines = ConfigText.lines(result);
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(
                lines.get(0)
                        .contains("process.shutdown.lame-duck: the lame-duck time " + lameDuck
                                + " leaves no time before the deadline " + deadline),
                lines.get(0));
        assertTrue(result.config().isEmpty());
    }

    @Test
    void aLameDuckTimeLongerThanTheDefaultDeadlineIsAnErrorToo() {
        ConfigResult result =
                ConfigText.valid().with("process.shutdown.lame-duck", "6m").read();

        assertTrue(result.config().isEmpty());
        assertEquals(1, result.problems().size(), () -> result.problems().toString());
    }

    /** {@code check} said valid, and the start failed. */
    @ParameterizedTest
    @CsvSource({
        "nio, 0.0.0.0:8443, [::]:8443, false",
        "io_uring, [::]:8443, 0.0.0.0:8443, false",
        "epoll, 0.0.0.0:8443, [::]:8443, true",
        "auto, 0.0.0.0:8443, [::]:8443, true",
        "nio, 0.0.0.0:8443, [::]:8444, true",
        "nio, 0.0.0.0:0, [::]:0, true"
    })
    void bothWildcardsWithOnePortAndTwoFrontendsNeedEpoll(String transport, String first, String second, boolean fine) {
        ConfigResult result = ConfigText.read("""
                process: {transport: %s}
                frontends:
                  - {name: a, listen: "%s", backend: web}
                  - {name: b, listen: "%s", backend: web}
                backends:
                  - {name: web, endpoints: [{address: "10.0.0.1:80"}]}
                """.formatted(transport, first, second));

        List<String> lines = ConfigText.lines(result);
        assertEquals(fine, result.config().isPresent(), lines::toString);
        assertEquals(fine ? 0 : 1, lines.size(), lines::toString);
        assertTrue(
                fine
                        || (lines.get(0).contains("frontends.b.listen: ")
                                && lines.get(0).contains(transport)),
                lines::toString);
    }

    @Test
    void bothWildcardsOfOneFrontendNeedNoEpoll() {
        ConfigResult result = ConfigText.valid()
                .with("process.transport", "nio")
                .with("frontends[].listen", "[\"0.0.0.0:8443\", \"[::]:8443\"]")
                .read();

        assertTrue(result.config().isPresent(), () -> result.problems().toString());
    }

    @Test
    void aLimitThatIsNeverReachedAndALoopAreWarnings() {
        ConfigResult result = ConfigText.valid()
                .with("process.max-connections", "10")
                .with("frontends[].max-connections", "11")
                .with("backends[].endpoints[].address", "\"127.0.0.1:8080\"")
                .read();
        List<String> lines = ConfigText.lines(result);
        assertTrue(result.config().isPresent());
        assertEquals(2, lines.size());
        assertTrue(lines.stream().anyMatch(line -> line.contains("above the process's 10 and never reached")));
        assertTrue(lines.stream().anyMatch(line -> line.contains("sends its connections here again")));
    }

    @Test
    void aVariableFillsAnyValue() {
        Map<String, String> env = Map.of("PORT", "9000", "WEIGHT", "7", "IDLE", "off", "EMPTY", "");
        String yaml = ConfigText.valid()
                .with("frontends[].listen", "\"127.0.0.1:${PORT}\"")
                .with("frontends[].timeouts.idle", "\"${IDLE}\"")
                .with("backends[].endpoints[].weight", "\"${WEIGHT}\"")
                .with("backends[].endpoints[].max-connections", "\"${EMPTY:-5}\"")
                .with("log.access.path", "\"/x/$${PORT}/${UNSET:-a b}\"")
                .toString();
        Config config = ConfigText.read(yaml, env::get).config().orElseThrow();
        assertEquals("127.0.0.1:9000", config.frontends().get(0).listen().get(0).toString());
        assertEquals(Optional.empty(), config.frontends().get(0).timeouts().idle());
        assertEquals(7, config.backends().get(0).endpoints().get(0).weight());
        assertEquals(
                OptionalInt.of(5), config.backends().get(0).endpoints().get(0).maxConnections());
        assertEquals("/x/${PORT}/a b", config.log().access().path());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "${NOT_SET} | environment variable NOT_SET is not set; set it, or write ${NOT_SET:-default}",
                "${1A} | \"${1A}\" names no variable; write ${NAME}",
                "${} | names no variable",
                "${A | has ${ without }",
                "${EMPTY} | the duration is empty",
                "${BELL} | \"1\\u0007s\" is not a duration",
            })
    void aVariableThatCannotBeFilledInIsToldAtItsValue(String value, String expected) {
        Map<String, String> env = Map.of("EMPTY", "", "BELL", "1\u0007s");
        ConfigResult result = ConfigText.read(
                "process:\n  shutdown:\n    deadline: \"" + value + "\"\n" + FRONTENDS + "\n" + BACKENDS, env::get);
        List<String> lines = ConfigText.lines(result);
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).startsWith("t.yaml:3:15: process.shutdown.deadline: "), lines.get(0));
        assertTrue(lines.get(0).contains(expected), lines.get(0));
    }
}
