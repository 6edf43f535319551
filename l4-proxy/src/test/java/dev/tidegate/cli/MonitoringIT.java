package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.RealPrometheus;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What is in docs/monitoring, held against what a real process tells a real Prometheus. */
class MonitoringIT {
    private static final Path MONITORING = Path.of("../docs/monitoring");
    private static final Path RULES_TEST = Path.of("src/test/resources/monitoring/alerts-test.yml");
    private static final Duration TOOL_BOUND = Duration.ofSeconds(60);
    private static final Duration RETIRE_BOUND = Duration.ofSeconds(60);

    private static final Pattern ADMIN = Pattern.compile("admin API on 127\\.0\\.0\\.1:(\\d+)");
    private static final Pattern NAME = Pattern.compile("\\b(?:tidegate|process|jvm)_[a-z_]+\\b");
    private static final Pattern CONDITION = Pattern.compile("\\b([a-z]+) *(?:=~|!~|!=|=) *\"([^\"]*)\"");
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.*), *([a-z_]+)\\)");

    /** The closed vocabularies; what the labels of names hold is anyone's choice. */
    private static final Map<String, Set<String>> WORDS = Map.of(
            "reason", words(Arrays.stream(CloseReason.values()).map(CloseReason::word)),
            "how", words(Arrays.stream(RetireHow.values()).map(RetireHow::word)),
            "result",
                    words(Stream.concat(
                            Arrays.stream(ConnectResult.values()).map(ConnectResult::word),
                            Stream.of("applied", "rejected", "unchanged", "pass", "fail"))),
            "side", words(Arrays.stream(Side.values()).map(Side::word)),
            "state",
                    Set.of(
                            "ready",
                            "draining",
                            "disabled",
                            "up",
                            "down",
                            "not-ready",
                            "ejected",
                            "breaker-open",
                            "pickable"),
            "kind", Set.of("configured", "runtime", "effective", "connections", "requests"),
            "area", Set.of("heap", "nonheap"),
            "pool", Set.of("direct", "mapped"));

    /** Labels whose words all have a series from the start. */
    private static final Set<String> ALWAYS_THERE = Set.of("state", "result", "side", "area", "pool");

    @TempDir
    Path directory;

    private static Set<String> words(Stream<String> words) {
        return words.collect(Collectors.toUnmodifiableSet());
    }

    private record Rule(String alert, String expression, String severity, String runbook) {}

    @Test
    void everyExpressionIsUnderstoodAndFindsItsMetrics() throws Exception {
        try (ScriptedBackend refuses = ScriptedBackend.refusing();
                ScriptedBackend stays = ScriptedBackend.echo();
                ScriptedBackend goes = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(refuses, stays, goes))
                        .start();
                RealPrometheus prometheus = RealPrometheus.scraping("tidegate", adminOf(tidegate))) {
            haveSomethingOfEverythingHappen(tidegate, yaml(refuses, stays), goes, prometheus);

            List<String> wrong = new ArrayList<>();
            Set<String> names = prometheus.metricNames();
            for (String expression : dashboardExpressions()) {
                check(expression, names, prometheus, wrong);
                if (prometheus.query(filledIn(expression)).isEmpty()) {
                    wrong.add("gives no series: " + expression);
                }
            }
            for (String expression : annotationExpressions()) {
                check(expression, names, prometheus, wrong);
            }
            for (Rule rule : rules()) {
                check(rule.expression(), names, prometheus, wrong);
            }
            for (JsonNode variable : dashboard().at("/templating/list")) {
                checkVariable(variable, prometheus, wrong);
            }
            assertEquals(List.of(), wrong);
        }
    }

    @Test
    void rulesAreValidAndFireOnWhatTheyAreForAndOnNothingElse() throws Exception {
        Tool promtool = Tool.require("promtool");
        Path rules = Files.copy(MONITORING.resolve("alerts.yml"), directory.resolve("alerts.yml"));
        Path test = Files.copy(RULES_TEST, directory.resolve("alerts-test.yml"));

        Tool.Result checked = promtool.run(TOOL_BOUND, "check", "rules", rules.toString());
        assertEquals(0, checked.exit(), checked::toString);
        Tool.Result tested = promtool.run(TOOL_BOUND, "test", "rules", test.toString());
        assertEquals(0, tested.exit(), tested::toString);

        String scenarios = Files.readString(RULES_TEST);
        for (Rule rule : rules()) {
            assertTrue(
                    scenarios.contains("\"" + rule.alert() + "\""), rule.alert() + " is in no test of " + RULES_TEST);
        }
    }

    @Test
    void everyRuleSaysHowBadItIsAndLeadsToWhatToDo() throws Exception {
        String readme = Files.readString(MONITORING.resolve("README.md"));
        for (Rule rule : rules()) {
            assertTrue(Set.of("critical", "warning", "info").contains(rule.severity()), rule::toString);
            assertEquals("docs/monitoring/README.md#" + rule.alert().toLowerCase(Locale.ROOT), rule.runbook());
            assertTrue(readme.contains("\n### " + rule.alert() + "\n"), rule.alert() + " has no section in README.md");
        }
    }

    @Test
    void dashboardHasNoPanelTwiceAndNoneOverAnother() throws Exception {
        Set<Integer> ids = new HashSet<>();
        Set<String> cells = new HashSet<>();
        for (JsonNode panel : dashboard().get("panels")) {
            assertTrue(ids.add(panel.get("id").asInt()), panel::toString);
            JsonNode at = panel.get("gridPos");
            for (int x = at.get("x").asInt();
                    x < at.get("x").asInt() + at.get("w").asInt();
                    x++) {
                for (int y = at.get("y").asInt();
                        y < at.get("y").asInt() + at.get("h").asInt();
                        y++) {
                    assertTrue(x < 24 && cells.add(x + "," + y), panel.get("title") + " lies over another at " + at);
                }
            }
        }
        assertFalse(ids.isEmpty());
    }

    // ---- a process to look at ----

    private static String yaml(ScriptedBackend... backends) {
        StringBuilder yaml = new StringBuilder("""
                admin: {listen: "127.0.0.1:0"}
                log: {access: {path: none}}
                process: {warm-up: off}
                frontends:
                  - {name: front, listen: "127.0.0.1:0", backend: back}
                backends:
                  - name: checked
                    health: {type: tcp, interval: 500ms}
                    endpoints: [{name: gone, address: "%s"}]
                  - name: back
                    endpoints:
                """.formatted(backends[0].hostPort()));
        for (int i = 0; i < backends.length; i++) {
            yaml.append("      - {name: e")
                    .append(i)
                    .append(", address: \"")
                    .append(backends[i].hostPort())
                    .append("\"}\n");
        }
        return yaml.toString();
    }

    private static InetSocketAddress adminOf(TidegateProcess tidegate) {
        Matcher matcher = ADMIN.matcher(tidegate.awaitErr("admin API on 127.0.0.1"));
        assertTrue(matcher.find(), () -> tidegate.err().toString());
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(matcher.group(1)));
    }

    /** Connections that go on, that end, that are refused at first, and that a reload retires; and two scrapes of it all. */
    private void haveSomethingOfEverythingHappen(
            TidegateProcess tidegate, String without, ScriptedBackend goes, RealPrometheus prometheus)
            throws Exception {
        List<ScriptedClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 16; i++) {
                ScriptedClient client = tidegate.connect();
                clients.add(client);
                client.send("ping");
                assertEquals("ping", client.readText(4));
            }
            clients.remove(0).close();
            Files.writeString(directory.resolve("tidegate.yaml"), without);
            assertTrue(goes.connections().size() > 0, "all went to the endpoint that stays");
            tidegate.signal("HUP");
            tidegate.awaitErr("reload applied");
            Await.until(
                    "a connection of the removed endpoint is retired",
                    RETIRE_BOUND,
                    () -> !prometheus
                            .query("tidegate_connections_retired_total > 0")
                            .isEmpty());
            prometheus.awaitScraped(3);
            Await.until(
                    "it has been so for two scrapes",
                    RETIRE_BOUND,
                    () -> !prometheus
                            .query("rate(tidegate_connections_retired_total[1m])")
                            .isEmpty());
        } finally {
            for (ScriptedClient client : clients) {
                client.close();
            }
        }
    }

    // ---- what is checked ----

    private static void check(String expression, Set<String> names, RealPrometheus prometheus, List<String> wrong) {
        try {
            prometheus.query(filledIn(expression));
        } catch (AssertionError e) {
            wrong.add("is refused: " + expression + ": " + e.getMessage());
        }
        Set<String> unknown = NAME.matcher(expression)
                .results()
                .map(match -> match.group())
                .collect(Collectors.toCollection(TreeSet::new));
        unknown.removeAll(names);
        if (!unknown.isEmpty()) {
            wrong.add("names what does not exist: " + unknown + " in " + expression);
        }
        CONDITION.matcher(expression).results().forEach(condition -> {
            for (String word : condition.group(2).split("\\|", -1)) {
                if (!isKnown(condition.group(1), word, prometheus)) {
                    wrong.add("no " + condition.group(1) + " is \"" + word + "\": " + expression);
                }
            }
        });
    }

    private static boolean isKnown(String label, String word, RealPrometheus prometheus) {
        if (!WORDS.containsKey(label)) {
            return true;
        }
        return WORDS.get(label).contains(word)
                && (!ALWAYS_THERE.contains(label)
                        || !prometheus
                                .query("count({job=\"tidegate\", " + label + "=\"" + word + "\"})")
                                .isEmpty());
    }

    private static void checkVariable(JsonNode variable, RealPrometheus prometheus, List<String> wrong) {
        Matcher values =
                LABEL_VALUES.matcher(variable.get("query").path("query").asText());
        if (values.matches()
                && prometheus
                        .query("count by (" + values.group(2) + ") (" + filledIn(values.group(1)) + ")")
                        .isEmpty()) {
            wrong.add("has no value: $" + variable.get("name").asText());
        }
    }

    /** With all that Grafana puts in. */
    private static String filledIn(String expression) {
        return expression.replace("$__rate_interval", "1m").replaceAll("\\$(job|instance|frontend|backend)", ".*");
    }

    private static JsonNode dashboard() throws IOException {
        return new ObjectMapper().readTree(MONITORING.resolve("dashboard.json").toFile());
    }

    private static List<String> dashboardExpressions() throws IOException {
        List<String> expressions = new ArrayList<>();
        for (JsonNode panel : dashboard().get("panels")) {
            panel.path("targets")
                    .forEach(target -> expressions.add(target.get("expr").asText()));
        }
        assertTrue(expressions.size() > 30, () -> "expressions found: " + expressions);
        return expressions;
    }

    private static List<String> annotationExpressions() throws IOException {
        List<String> expressions = new ArrayList<>();
        dashboard()
                .at("/annotations/list")
                .forEach(each -> expressions.add(each.get("expr").asText()));
        assertFalse(expressions.isEmpty());
        return expressions;
    }

    private static List<Rule> rules() throws IOException {
        JsonNode file = new ObjectMapper()
                .valueToTree(new Load(LoadSettings.builder().build())
                        .loadFromString(Files.readString(MONITORING.resolve("alerts.yml"))));
        List<Rule> rules = new ArrayList<>();
        for (JsonNode group : file.get("groups")) {
            for (JsonNode rule : group.get("rules")) {
                rules.add(new Rule(
                        rule.get("alert").asText(),
                        rule.get("expr").asText(),
                        rule.at("/labels/severity").asText(),
                        rule.at("/annotations/runbook").asText()));
            }
        }
        assertTrue(rules.size() > 10, rules::toString);
        return rules;
    }
}
