package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Requirement;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A result without errors says that what the clients counted is what the backend counted: the run compares the two. */
class LoadLoopTest {
    private static final Duration WINDOW = Duration.ofMillis(150);
    private static final Duration SETTLE = Duration.ofMillis(20);

    @ParameterizedTest
    @EnumSource(Scenario.class)
    @Tag("slow")
    void clientsAndBackendCountTheSameDirectly(Scenario scenario) throws IOException {
        try (LoadLoop loop = new LoadLoop(0)) {
            LoadSpec spec = spec(scenario, loop.backendAddress());
            assertTrue(countsSoonerOrLater(loop, spec));
            LoadResult result = loop.run(spec.withSettle(SETTLE));
            assertEquals("", result.firstError());
            assertTrue(result.totalCount() >= result.count(), "the window is a part of the run");
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    @Tag("slow")
    void clientsAndBackendCountTheSameThroughTheForwarder(Transport transport) throws IOException {
        Requirement.met(transport.isAvailable(), "needs transport " + transport.word());
        try (LoadLoop loop = new LoadLoop(0);
                BareForwarder forwarder = BareForwarder.start(
                        transport,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        loop.backendAddress(),
                        1,
                        16 << 10)) {
            InetSocketAddress target = new InetSocketAddress(InetAddress.getLoopbackAddress(), forwarder.port());
            for (Scenario scenario : Scenario.values()) {
                assertTrue(countsSoonerOrLater(loop, spec(scenario, target)), scenario.word());
            }
        }
    }

    /** A whole burst takes seconds. */
    private static LoadSpec spec(Scenario scenario, InetSocketAddress target) {
        LoadSpec spec = LoadSpec.of(scenario, target, WINDOW);
        return scenario == Scenario.BURST ? spec.withConnections(200) : spec;
    }

    /** A window is short, and a forwarder that has just started, on a busy machine, may let the first ones pass. */
    private static boolean countsSoonerOrLater(LoadLoop loop, LoadSpec spec) throws IOException {
        for (int i = 0; i < 50; i++) {
            LoadResult result = loop.run(spec.withSettle(SETTLE));
            assertEquals("", result.firstError());
            if (result.count() > 0) {
                return true;
            }
        }
        return false;
    }

    @Test
    void latencySendsAtTheRateAskedFor() throws IOException {
        try (LoadLoop loop = new LoadLoop(0)) {
            LoadSpec spec =
                    LoadSpec.of(Scenario.LATENCY, loop.backendAddress(), WINDOW).withRate(2_000);
            LoadResult result = loop.run(spec);
            assertEquals("", result.firstError());
            // The schedule is kept however late the loop is; only what is late at an edge of the window may be missing,
            // or come from before it.
            assertTrue(result.totalCount() >= 200 && result.totalCount() <= 2_000, "messages: " + result.totalCount());
            assertTrue(result.p50Nanos() > 0 && result.p50Nanos() <= result.p99Nanos(), "percentiles are in order");
        }
    }

    @Test
    void refusedConnectsAreErrors() throws IOException {
        InetSocketAddress nobody;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = (InetSocketAddress) closed.getLocalSocketAddress();
        }
        try (LoadLoop loop = new LoadLoop(0)) {
            LoadResult result = loop.run(LoadSpec.of(Scenario.SMALL, nobody, WINDOW));
            assertEquals(0, result.count());
            assertEquals(Scenario.SMALL.connections(), result.errors());
            assertTrue(result.firstError().contains("refused"), result.firstError());
        }
    }

    @Test
    void whatListensEverywhereIsReachedByEveryLoopbackAddress() throws IOException {
        try (LoadLoop loop = LoadLoop.everywhere(0)) {
            for (InetSocketAddress address : new Shape(1, 300).addresses(loop.backendAddress())) {
                LoadResult result = loop.run(LoadSpec.of(Scenario.ARRIVE, address, Duration.ofMillis(1))
                        .withConnections(1)
                        .withSettle(Duration.ZERO));
                assertEquals("", result.firstError(), address::toString);
                assertEquals(1, result.totalCount(), address::toString);
            }
        }
    }

    @Test
    void heldConnectionsStayUntilReleased() throws IOException {
        try (LoadLoop loop = new LoadLoop(0)) {
            LoadSpec spec = LoadSpec.of(Scenario.SMALL, loop.backendAddress(), WINDOW);
            assertEquals(50, loop.hold(spec.withConnections(50)).count());
            LoadResult more = loop.hold(spec.withConnections(120));
            assertEquals("", more.firstError());
            assertEquals(120, more.count());
            LoadResult released = loop.release();
            assertEquals("", released.firstError());
            assertEquals(120, released.count());
            assertEquals(0, loop.release().count());
        }
    }

    @Test
    void heldConnectionsExchangeMessagesWhileTheyAreBusy() throws IOException {
        try (LoadLoop loop = new LoadLoop(0)) {
            assertThrows(IOException.class, loop::busy, "nothing is held");
            LoadSpec spec = LoadSpec.of(Scenario.SMALL, loop.backendAddress(), WINDOW);
            loop.hold(spec.withConnections(20));
            assertThrows(IOException.class, loop::idle, "nothing is busy");

            assertEquals(20, loop.busy().count());
            assertThrows(IOException.class, () -> loop.hold(spec.withConnections(30)), "not beside busy ones");
            AtomicInteger turns = new AtomicInteger();
            loop.serveUntil(() -> turns.incrementAndGet() > 20);
            LoadResult exchanged = loop.idle();

            assertEquals("", exchanged.firstError());
            assertTrue(exchanged.count() >= 20, "each has exchanged one at least: " + exchanged.count());
            assertEquals(30, loop.hold(spec.withConnections(30)).count(), "what proves a connection is counted alone");
            assertEquals("", loop.release().firstError());
        }
    }

    @Test
    void driverAnswersEachLineAndEndsWithItsInput() throws IOException {
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        try (LoadLoop loop = new LoadLoop(0)) {
            String target = HostPort.format(loop.backendAddress());
            String commands = "small target=" + target + " connections=2 settle-ms=0 window-ms=50\n\nnonsense\n"
                    + "connect target=" + target + " connections=0\nrelease\n";
            LoadDriver.obey(
                    loop,
                    new ByteArrayInputStream(commands.getBytes(StandardCharsets.UTF_8)),
                    new PrintStream(answers, true, StandardCharsets.UTF_8));
            List<String> lines =
                    answers.toString(StandardCharsets.UTF_8).lines().toList();
            assertEquals(5, lines.size(), lines.toString());
            assertEquals("ready " + target, lines.get(0));
            assertEquals(
                    0, LoadResult.parse(lines.get(1).substring("ok ".length())).errors());
            assertTrue(
                    lines.get(2).contains("\"nonsense\" is not known; use some of small, http1, connect"),
                    lines.get(2));
            assertTrue(lines.get(3).contains("connections=0: at least 1 is needed"), lines.get(3));
            assertTrue(lines.get(4).startsWith("ok count=0 "), lines.get(4));
        }
    }

    @Test
    void resultSurvivesItsLine() {
        LoadResult result = new LoadResult(1, 2, 3, -1, 4, 5, 6, "it broke: \"a=b\" & more");
        assertEquals(result, LoadResult.parse(result.toLine()));
    }
}
