package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.ConfigSchema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What two configurations differ in. */
class ConfigDiffTest {
    private static final String SMALL = """
            frontends:
              - {name: edge, listen: "127.0.0.1:1", backend: web}
            backends:
              - name: web
                endpoints:
                  - {name: a, address: "10.0.0.1:80"}
                  - {name: b, address: "10.0.0.2:80"}
            """;

    private static Config config(String yaml) {
        ConfigResult result = ConfigReader.readText("t.yaml", yaml.getBytes(StandardCharsets.UTF_8), name -> null);
        return result.config().orElseThrow(() -> new AssertionError(result.problems() + "\n" + yaml));
    }

    /** Three connections on every frontend, and as many on an endpoint as its address ends in. */
    private static final OpenConnections OPEN = new OpenConnections() {
        @Override
        public int ofFrontend(String frontend) {
            return 3;
        }

        @Override
        public int ofEndpoint(String backend, String address) {
            return address.charAt(address.indexOf(':') - 1) - '0';
        }
    };

    private static List<String> diff(String before, String after) {
        return ConfigDiff.between(config(before), config(after), OPEN, true).changes().stream()
                .map(ConfigDiff.Change::toString)
                .toList();
    }

    /** io_uring and nio take no socket that is open already: such a listener waits for the next start, whole. */
    @Test
    void socketsFromSystemdWaitForARestartWhereTheProcessCannotTakeThem() {
        String before = SMALL;
        String after = before.replace("listen: \"127.0.0.1:1\"", "listen: \"systemd:web\", protocol: tcp")
                .replace("backends:", "  - {name: new, listen: \"systemd:new\", backend: web}\nbackends:");
        List<ConfigDiff.Change> changes =
                ConfigDiff.between(config(before), config(after), OPEN, false).changes();
        assertEquals(
                List.of("RESTART frontends.edge.listen", "LIVE frontends.edge.protocol", "RESTART frontends.new"),
                changes.stream()
                        .map(change -> change.applies() + " " + change.path())
                        .toList());
        assertEquals(
                List.of(),
                ConfigDiff.between(config(before), config(after), OPEN, true).atRestart());
    }

    @Test
    void nothingIsTheDifferenceOfTheSame() {
        assertEquals(List.of(), diff(SMALL, SMALL));
    }

    /** A backend of 9,000 endpoints was a line of 600 kB, in the log and on the screen. */
    @Test
    void aLongValueIsCutShortForPeopleAlone() {
        StringBuilder yaml = new StringBuilder("""
                frontends: [{name: edge, listen: "127.0.0.1:1", backend: web}]
                backends:
                  - name: web
                    endpoints:
                """);
        for (int i = 1; i <= 200; i++) {
            yaml.append("      - {name: e")
                    .append(i)
                    .append(", address: \"10.0.0.")
                    .append(i)
                    .append(":80\"}\n");
        }
        ConfigDiff.Change added = ConfigDiff.between(
                        config(yaml.toString().replace("web", "old")), config(yaml.toString()), OPEN, true)
                .changes()
                .stream()
                .filter(change -> change.op() == ConfigDiff.Op.ADD)
                .findFirst()
                .orElseThrow();
        assertTrue(added.to().contains("e200"));
        String line = added.toString();
        assertTrue(line.length() < 2_100 && line.endsWith("…"), line);
    }

    @Test
    void anotherOrderAndDefaultsWrittenOutAreNoDifference() {
        String same = """
                process: {workers: auto, shutdown: {deadline: 300s}}
                log: {level: info}
                frontends:
                  - {name: edge, listen: ["127.0.0.1:1"], backend: web, protocol: auto,
                     timeouts: {idle: 60m, unacked: 5m}, lifetime: {max-age: off, jitter: 20%, grace: 300s}}
                backends:
                  - name: web
                    balance: power-of-two
                    connect: {attempts: 3}
                    endpoints:
                      - {name: b, address: "10.0.0.2:80", weight: 1}
                      - {name: a, address: "10.0.0.1:80"}
                """;
        assertEquals(List.of(), diff(SMALL, same));
        assertEquals(
                List.of(),
                diff(
                        SMALL.replace("\"127.0.0.1:1\"", "[\"127.0.0.1:1\", \"127.0.0.1:2\"]"),
                        SMALL.replace("\"127.0.0.1:1\"", "[\"127.0.0.1:2\", \"127.0.0.1:1\"]")));
    }

    @Test
    void aChangedLifetimeIsShownInTheConfigurationsWords() {
        assertEquals(
                List.of(
                        "change frontends.edge.protocol from auto to http2",
                        "change frontends.edge.lifetime.max-age from off to 30m",
                        "change frontends.edge.lifetime.jitter from 20% to 35%",
                        "change frontends.edge.lifetime.max-requests from off to 10000",
                        "change frontends.edge.lifetime.max-bytes from off to 100GiB",
                        "change frontends.edge.lifetime.quiet from 5s to 500ms"),
                diff(
                        SMALL,
                        SMALL.replace(
                                "backend: web}",
                                "backend: web, protocol: http2, lifetime: {max-age: 30m, jitter: 35%, max-requests: 10000,"
                                        + " max-bytes: 102400MiB, grace: 5m, quiet: 500ms}}")));
    }

    @Test
    void aRemovedEndpointSaysHowManyConnectionsItRetires() {
        assertEquals(
                List.of("remove backends.web.endpoints.b, retires connections: 2"),
                diff(SMALL, SMALL.replace("      - {name: b, address: \"10.0.0.2:80\"}\n", "")));
    }

    @Test
    void aRenamedEndpointRetiresNobodyAndAChangedAddressDoes() {
        assertEquals(
                List.of("change backends.web.endpoints.c.name from b to c"),
                diff(SMALL, SMALL.replace("name: b", "name: c")));
        assertEquals(
                List.of(
                        "change backends.web.endpoints.b.address from 10.0.0.2:80 to 10.0.0.9:80, retires connections: 2"),
                diff(SMALL, SMALL.replace("10.0.0.2", "10.0.0.9")));
    }

    @Test
    void swappedAddressesRetireNobody() {
        String swapped =
                SMALL.replace("10.0.0.1", "x").replace("10.0.0.2", "10.0.0.1").replace("x", "10.0.0.2");
        assertEquals(
                List.of(
                        "change backends.web.endpoints.a.address from 10.0.0.1:80 to 10.0.0.2:80",
                        "change backends.web.endpoints.b.address from 10.0.0.2:80 to 10.0.0.1:80"),
                diff(SMALL, swapped));
    }

    @Test
    void wholeFrontendsAndBackendsComeAndGo() {
        String more = SMALL.replace("backends:\n", "  - {name: in, listen: \"127.0.0.1:2\", backend: db}\nbackends:\n")
                + "  - {name: db, balance: random, endpoints: [{address: \"10.0.0.5:1\", weight: 2}]}\n";
        assertEquals(
                List.of(
                        "add frontends.in {listen: 127.0.0.1:2, backend: db, protocol: auto, max-connections: none,"
                                + " timeouts.idle: 1h, timeouts.half-closed: 1m, timeouts.unacked: 5m,"
                                + " lifetime.max-age: off, lifetime.jitter: 20%, lifetime.max-requests: off,"
                                + " lifetime.max-bytes: off, lifetime.grace: 5m, lifetime.quiet: 5s,"
                                + " lifetime.linger: 2s}",
                        "add backends.db {balance: random, connect.timeout: 2s, connect.attempts: 3, connect.deadline: 5s,"
                                + " connect.proxy-protocol: off, rebalance.on-join: false, rebalance.spread: 2m,"
                                + " rebalance.max-share: 110%, panic.threshold: 50%, panic.mode: spread, health: none,"
                                + " outlier: {consecutive-failures: 5, failure-rate: off, min-connections: 20, interval:"
                                + " 10s, first-byte: off, ejection: 30s, max-ejection: 5m, max-ejected: 50%}, breaker: off,"
                                + " retry-budget: {ratio: 20%, min-per-second: 10}, slow-start: off,"
                                + " endpoints: [10.0.0.5:1 {address: 10.0.0.5:1, weight: 2,"
                                + " max-connections: none}]}"),
                diff(SMALL, more));
        assertEquals(
                List.of("remove frontends.in, retires connections: 3", "remove backends.db, retires connections: 5"),
                diff(more, SMALL));
    }

    private static final String STEPS = "backends[].health.steps";

    /** Each with every value another, and none of them the default. */
    private static final Map<String, String> GROUPS = Map.of(
            "health: {type: tcp}",
            "health: {type: tcp, interval: 9s, fast-interval: 8s, timeout: 3s, jitter: 5%, rise: 1, fall: 1, port: 1,"
                    + " address: 10.0.0.9, source: 10.0.0.8, initial: up, on-down: cut, max-hold-down: off, close: reset}",
            "health: {type: exec, command: [/x, a, b]}",
            "health: {type: exec, command: [/x, \"a, b\"]}",
            "health: {type: send-expect, steps: [{expect: \"a\\n\"}]}",
            "health: {type: send-expect, steps: [{expect: 'a\\n'}], not-ready: b}",
            "health: {type: http}",
            "health: {type: http, method: HEAD, path: /x, host: a, headers: [\"A: b\"], expect-status: 200,"
                    + " not-ready-status: 503, http-version: h2c}",
            "health: {type: http, expect-body: a}",
            "health: {type: http, expect-body: b}",
            "health: {type: tls}",
            "health: {type: tls, server-name: a, ca: /b}",
            "health: {type: grpc}",
            "health: {type: grpc, service: a}",
            "outlier: {}, breaker: {}, retry-budget: {}, slow-start: {}, panic: {}",
            "outlier: {consecutive-failures: 1, failure-rate: 5%, min-connections: 1, interval: 1s, first-byte: 1s, ejection:"
                    + " 1s, max-ejection: 1m, max-ejected: 1%}, breaker: {consecutive-failures: 1, open: 1s, trials: 2},"
                    + " retry-budget: {ratio: 1%, min-per-second: 1}, slow-start: {window: 1s, aggression: 1.5, min-weight:"
                    + " 1%}, panic: {threshold: 1%, mode: refuse}",
            "health: {type: http, interval: 3s}",
            "health: {type: tcp, interval: 3s}");

    private static String web(String groups) {
        return "frontends: [{name: edge, listen: \"127.0.0.1:1\", backend: web}]\n"
                + "backends: [{name: web, endpoints: [{address: \"10.0.0.1:80\"}], " + groups + "}]\n";
    }

    private static List<String> groups(String before, String after) {
        return diff(web(before), web(after));
    }

    @Test
    void aChangedCheckAppliesLiveAndIsShownInTheConfigurationsWords() {
        assertEquals(
                List.of(
                        "change backends.web.health.interval from 2s to 5s",
                        "change backends.web.health.fast-interval from 2s to 5s",
                        "change backends.web.health.port from none to 81"),
                groups("health: {type: tcp}", "health: {type: tcp, interval: 5s, port: 81}"));
        assertEquals(
                List.of(
                        "change backends.web.health.steps from [send \"PING\\r\\n\", expect \"+PONG\"] to [send \"PING\\r\\n\","
                                + " expect-hex \"2b\"]",
                        "change backends.web.health.not-ready from none to \"^-LOADING \\\"\\\\d\\u00e9\""),
                groups(
                        "health: {type: send-expect, steps: [{send: \"PING\\r\\n\"}, {expect: +PONG}]}",
                        "health: {type: send-expect, not-ready: '^-LOADING \"\\dé', steps: [{send: \"PING\\r\\n\"},"
                                + " {expect-hex: 2b}]}"));
    }

    @Test
    void anotherTypeOfCheckIsNamedWithTheKeysThatComeAndGo() {
        List<ConfigDiff.Change> changes = ConfigDiff.between(
                        config(web("health: {type: tcp}")),
                        config(web("health: {type: grpc, service: a.B}")),
                        OPEN,
                        true)
                .changes();
        assertEquals(
                List.of(
                        "change backends.web.health.type from tcp to grpc",
                        "add backends.web.health.service \"a.B\"",
                        "add backends.web.health.host none",
                        "remove backends.web.health.close"),
                changes.stream().map(ConfigDiff.Change::toString).toList());
        assertTrue(changes.stream().allMatch(change -> change.applies() == ConfigDiff.Applies.LIVE));
    }

    @Test
    void aGroupThatIsSwitchedOnOrOffIsOneChange() {
        assertEquals(
                List.of(
                        "change backends.web.health from none to {type: tcp, interval: 2s, fast-interval: 2s, timeout: 1s,"
                                + " jitter: 10%, rise: 2, fall: 3, port: none, address: none, source: none, initial: unknown,"
                                + " on-down: keep, max-hold-down: 5m, close: fin}"),
                groups("balance: power-of-two", "health: {type: tcp}"));
        assertEquals(
                List.of(
                        "change backends.web.breaker from off to {consecutive-failures: 5, open: 10s, trials: 1}",
                        "change backends.web.retry-budget from {ratio: 20%, min-per-second: 10} to off",
                        "change backends.web.slow-start from off to {window: 30s, aggression: 1.0, min-weight: 10%}"),
                groups("balance: power-of-two", "breaker: {}, retry-budget: off, slow-start: {}"));
        assertEquals(
                List.of("change backends.web.panic.mode from spread to refuse"),
                groups("breaker: off, outlier: {}", "panic: {mode: refuse}"));
    }

    /** A key that is forgotten here would be a change that a reload does not see. */
    @Test
    void everyKeyOfTheReferenceIsComparedAndSaysWhenItApplies() {
        String other = """
                process: {workers: 3, transport: io_uring, max-connections: 9, state-dir: state, warm-up: off, shutdown: {deadline: 8s, spread: 1s, lame-duck: 1s}}
                admin: {listen: "127.0.0.1:5", token-file: tokens, tls: {certificate: c, key: k, client-ca: ca}}
                log: {level: warn, access: {path: none, format: haproxy}}
                frontends:
                  - {name: edge, listen: "127.0.0.1:3", backend: other, protocol: tcp, max-connections: 3,
                     timeouts: {idle: 1s, half-closed: 1s, unacked: off},
                     lifetime: {max-age: 1h, jitter: 0%, max-requests: 5, max-bytes: 1KiB, grace: 1m, quiet: 1s, linger: 1s}}
                backends:
                  - name: web
                    balance: random
                    connect: {timeout: 1s, attempts: 1, deadline: 1s, proxy-protocol: v1}
                    rebalance: {on-join: true, spread: 1s, max-share: 100%}
                    endpoints:
                      - {name: a, address: "10.0.0.3:80", weight: 4, max-connections: 5}
                      - {name: c, address: "10.0.0.2:80"}
                  - {name: other, endpoints: [{address: "10.0.0.1:80"}]}
                """;
        List<ConfigDiff.Change> changes = new ArrayList<>(
                ConfigDiff.between(config(SMALL), config(other), OPEN, true).changes());
        GROUPS.forEach((before, after) ->
                changes.addAll(ConfigDiff.between(config(web(before)), config(web(after)), OPEN, true)
                        .changes()));

        Set<String> compared = new TreeSet<>();
        for (ConfigDiff.Change change : changes) {
            String key = change.path()
                    .replaceFirst("endpoints\\.[^.]+", "endpoints[]")
                    .replaceFirst("^(frontends|backends)\\.[^.]+", "$1[]");
            if (change.op() == ConfigDiff.Op.CHANGE) {
                compared.add(key);
                assertEquals(
                        ConfigSchema.isLive(key) ? ConfigDiff.Applies.LIVE : ConfigDiff.Applies.RESTART,
                        change.applies(),
                        key);
            }
        }
        Set<String> leaves = Pattern.compile("(?m)^\\| `([^`]+)` \\| (?!keys|list)")
                .matcher(ConfigSchema.markdownTable())
                .results()
                .map(row -> row.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(leaves.size() > 20, leaves.toString());
        leaves.removeAll(Set.of("include", "frontends[].name", "backends[].name"));
        // A dialogue is compared as a whole: its steps have no names by which one could be told from another.
        assertTrue(leaves.removeIf(key -> key.startsWith(STEPS + "[].")));
        leaves.add(STEPS);
        assertEquals(leaves, compared);
        assertEquals(
                List.of(
                        "process.workers",
                        "process.transport",
                        "process.max-connections",
                        "process.state-dir",
                        "process.warm-up",
                        "admin.listen",
                        "admin.token-file",
                        "admin.tls.certificate",
                        "admin.tls.key",
                        "admin.tls.client-ca",
                        "log.access.path",
                        "log.access.format"),
                new ConfigDiff(changes)
                        .atRestart().stream().map(ConfigDiff.Change::path).toList());
    }
}
