package dev.tidegate.proxy;

import static dev.tidegate.proxy.OperatorFixture.endpoint;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.RemovePolicy;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Series come and go with what they are about, and nobody outside can make more of them. */
class SeriesTest {
    /** A series with its labels; without what the JVM says of itself. */
    private static Set<String> series(OperatorFixture operator) throws Exception {
        return operator.scrape()
                .lines()
                .filter(line -> line.startsWith("tidegate_"))
                .map(line -> line.substring(0, line.lastIndexOf(' ')))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** kubernetes/ingress-nginx#2728: series of upstreams that had gone long ago stayed, and scrapes grew. */
    @Test
    void endpointsThatCameAndWentLeaveNoSeries() throws Exception {
        comeAndGo(100);
    }

    @Test
    @Tag("nightly")
    void fiveThousandEndpointsThatCameAndWentLeaveNoSeries() throws Exception {
        comeAndGo(5_000);
    }

    private static void comeAndGo(int count) throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(Wish.EPOLL)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Set<String> before = series(operator);
            for (int round = 0; round < 2; round++) {
                for (int i = 0; i < count; i++) {
                    operator.done(new Command.AddEndpoint(
                            "back",
                            "e" + round + "-" + i,
                            "127.1." + i / 250 + "." + (1 + i % 250) + ":" + (1 + round),
                            OptionalInt.of(0),
                            OptionalInt.empty()));
                }
                assertTrue(series(operator).size() >= before.size() + 5 * count, "they have no series");
                int slots = proxy.frontend().backend().endpoints().all().stream()
                        .mapToInt(endpoint -> endpoint.cell().slot())
                        .max()
                        .orElseThrow();
                assertTrue(slots <= count, () -> "places to count at: " + slots);
                for (int i = 0; i < count; i++) {
                    operator.done(new Command.RemoveEndpoint(endpoint("e" + round + "-" + i), RemovePolicy.KEEP));
                }
                assertEquals(before, series(operator));
            }
        }
    }

    /** kubernetes/ingress-nginx#2701: a label was filled with whatever text came. */
    @Test
    void noClientAndNoTextMakesALabel() throws Exception {
        try (var a = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(Wish.EPOLL)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            Set<String> before = series(operator);
            for (int i = 1; i <= 40; i++) {
                try (var client = ScriptedClient.connect(
                        proxy.address(), ScriptedClient.Options.DEFAULT.fromSource("127.0.77." + i))) {
                    client.send("ping");
                    assertEquals("ping", client.readText(4));
                }
            }
            proxy.awaitNoConnections();
            for (String name : List.of(
                    "",
                    "a b",
                    "a\nb",
                    "a\"b",
                    "a\\b",
                    "a{b",
                    "a,b=\"c\"",
                    "\u0000",
                    "\u00e9",
                    "\ud800",
                    "127.0.0.1:1\r\n# HELP x",
                    "a".repeat(261))) {
                Outcome outcome = operator.execute(
                        new Command.AddEndpoint("back", name, "127.0.0.1:1", OptionalInt.empty(), OptionalInt.empty()));
                assertTrue(
                        outcome instanceof Outcome.Refused refused && refused.why() == Outcome.Why.INVALID,
                        () -> name + ": " + outcome);
            }

            Set<String> after = series(operator);
            assertFalse(operator.scrape().contains("127.0.77."));
            Set<String> more = new TreeSet<>(after);
            more.removeAll(before);
            Pattern ofTheFrontend =
                    Pattern.compile("tidegate_(connections_closed_total|connection_duration_seconds)\\w*\\{.*");
            more.forEach(series -> assertTrue(ofTheFrontend.matcher(series).matches(), series));
            assertTrue(more.size() < 30, more::toString);
        }
    }
}
