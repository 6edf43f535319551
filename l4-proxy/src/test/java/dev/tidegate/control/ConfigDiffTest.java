package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.ConfigSchema;
import java.nio.charset.StandardCharsets;
import java.util.List;
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
        return ConfigDiff.between(config(before), config(after), OPEN).changes().stream()
                .map(ConfigDiff.Change::toString)
                .toList();
    }

    @Test
    void nothingIsTheDifferenceOfTheSame() {
        assertEquals(List.of(), diff(SMALL, SMALL));
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
                                + " rebalance.max-share: 110%, endpoints: [10.0.0.5:1 {address: 10.0.0.5:1, weight: 2,"
                                + " max-connections: none}]}"),
                diff(SMALL, more));
        assertEquals(
                List.of("remove frontends.in, retires connections: 3", "remove backends.db, retires connections: 5"),
                diff(more, SMALL));
    }

    /** A key that is forgotten here would be a change that a reload does not see. */
    @Test
    void everyKeyOfTheReferenceIsComparedAndSaysWhenItApplies() {
        String other = """
                process: {workers: 3, transport: io_uring, max-connections: 9, state-dir: state, shutdown: {deadline: 8s, spread: 1s, lame-duck: 1s}}
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
        List<ConfigDiff.Change> changes =
                ConfigDiff.between(config(SMALL), config(other), OPEN).changes();

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
        assertEquals(leaves, compared);
        assertEquals(
                List.of(
                        "process.workers",
                        "process.transport",
                        "process.max-connections",
                        "process.state-dir",
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
