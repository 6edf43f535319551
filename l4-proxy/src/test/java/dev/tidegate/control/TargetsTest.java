package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.health.CheckPlan;
import dev.tidegate.health.Condition;
import dev.tidegate.health.Target;
import dev.tidegate.health.Target.Greeting;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetsTest {
    private static final List<InetSocketAddress> TWO =
            List.of(new InetSocketAddress("192.0.2.1", 8080), new InetSocketAddress("192.0.2.2", 8080));

    @Test
    void everyAddressOfAnEndpointIsCheckedOnItsOwnPort() {
        Target target = target("health: {type: tcp}", TWO);

        assertEquals("the id", target.id());
        assertEquals("a", target.subject().endpoint());
        assertEquals(TWO, target.addresses());
        assertNull(target.source());
    }

    @Test
    void anotherPortIsThatOfEveryAddress() {
        assertEquals(
                List.of(new InetSocketAddress("192.0.2.1", 9000), new InetSocketAddress("192.0.2.2", 9000)),
                target("health: {type: tcp, port: 9000}", TWO).addresses());
    }

    /** An agent that answers for all: it is asked once, not once for each address. */
    @Test
    void anotherAddressIsAskedOnce() {
        assertEquals(
                List.of(new InetSocketAddress("192.0.2.9", 8080)),
                target("health: {type: tcp, address: 192.0.2.9}", TWO).addresses());
        assertEquals(
                List.of(new InetSocketAddress("192.0.2.9", 9000)),
                target("health: {type: tcp, address: 192.0.2.9, port: 9000}", TWO)
                        .addresses());
    }

    @Test
    void whoseNameIsNotResolvedHasNoAddressToCheck() {
        assertEquals(List.of(), target("health: {type: tcp}", List.of()).addresses());
    }

    @Test
    void checksLeaveFromTheSourceThatIsSet() {
        assertEquals(
                new InetSocketAddress("192.0.2.7", 0),
                target("health: {type: tcp, source: 192.0.2.7}", TWO).source());
    }

    @ParameterizedTest
    @CsvSource({"off, NONE", "v1, PROXY_V1", "v2, PROXY_V2"})
    void whoGetsThePROXYHeaderGetsItFromChecksToo(String header, Greeting greeting) {
        String connect = "connect: {proxy-protocol: " + header + "}, ";
        assertEquals(greeting, target(connect + "health: {type: tcp}", TWO).greeting());
        assertEquals(
                Greeting.NONE,
                target(connect + "health: {type: tcp, port: 9000}", TWO).greeting());
    }

    @Test
    void thePlanIsWhatTheConfigurationSays() {
        CheckPlan plan = target(
                        "health: {type: tcp, interval: 7s, fast-interval: 700ms, timeout: 300ms, rise: 4, fall: 5}",
                        TWO)
                .plan();

        assertEquals(TimeUnit.SECONDS.toNanos(7), plan.intervalNanos());
        assertEquals(TimeUnit.MILLISECONDS.toNanos(700), plan.fastIntervalNanos());
        assertEquals(TimeUnit.MILLISECONDS.toNanos(300), plan.timeoutNanos());
        assertEquals(4, plan.rise());
        assertEquals(5, plan.fall());
        assertEquals(Condition.DOWN, plan.initial());
    }

    private static Target target(String settings, List<InetSocketAddress> addresses) {
        String yaml = """
                frontends: [{name: edge, listen: "127.0.0.1:1", backend: back}]
                backends: [{name: back, %s, endpoints: [{name: a, address: "app.example:8080"}]}]
                """.formatted(settings);
        ConfigResult read = ConfigReader.readText("t.yaml", yaml.getBytes(StandardCharsets.UTF_8), variable -> null);
        BackendConfig backend = read.config()
                .orElseThrow(() -> new AssertionError(read.problems()))
                .backends()
                .get(0);
        EndpointCell cell = new EndpointCell("back", "app.example:8080", 0, addresses);
        return Targets.of(
                backend,
                backend.health().orElseThrow(),
                new Endpoint("a", 1, Integer.MAX_VALUE, cell),
                "the id",
                Condition.DOWN);
    }
}
