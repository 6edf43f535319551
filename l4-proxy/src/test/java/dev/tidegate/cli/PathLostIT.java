package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.RunningTool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A path that is lost without FIN or reset ends the connections over it: gravitational/teleport#69780, and
 * envoyproxy/envoy#8705 for the client's side. Without {@code unacked}, nio is left with keepalive and the kernel's patience.
 */
class PathLostIT {
    private static final Duration UNACKED = Duration.ofSeconds(2);

    /** Of the way from the first lost byte to the line in the log, on a busy machine. */
    private static final Duration LATEST = Duration.ofSeconds(8);

    /** What keepalive takes: 15 s of silence, then three probes 5 s apart, or one and {@code unacked}. */
    private static final Duration KEEPALIVE = Duration.ofSeconds(15);

    private static final Duration KEEPALIVE_LATEST = Duration.ofSeconds(45);

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"io_uring, FLOOD", "io_uring, BEAT", "epoll, FLOOD", "epoll, BEAT"})
    @Tag("slow")
    void theEndpointsPathIsLostUnderAnUpload(String transport, String habit) throws Exception {
        losesTheEndpoint(new TwoNetworks(), transport, habit, UNACKED, LATEST);
    }

    /** By then the neighbour is known to be gone: the kernel tells of no route in place of a time-out. */
    @ParameterizedTest
    @CsvSource({"io_uring, FLOOD", "io_uring, BEAT", "epoll, FLOOD", "epoll, BEAT"})
    @Tag("slow")
    void theEndpointsPathIsLostForLongerThanItsNeighbourIsLookedFor(String transport, String habit) throws Exception {
        losesTheEndpoint(new TwoNetworks(300), transport, habit, UNACKED, LATEST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("nightly")
    void theEndpointsPathIsLostInSilence(String transport) throws Exception {
        losesTheEndpoint(new TwoNetworks(), transport, "WAIT", KEEPALIVE, KEEPALIVE_LATEST);
    }

    private void losesTheEndpoint(TwoNetworks made, String transport, String habit, Duration earliest, Duration latest)
            throws Exception {
        try (TwoNetworks networks = made;
                RunningTool endpoint = networks.peer(networks.far(), "listen", TwoNetworks.FAR, "ANSWER");
                TidegateProcess tidegate = run(networks, endpoint, TwoNetworks.FAR, transport);
                RunningTool client = networks.peer(
                        networks.near(), "connect", TwoNetworks.NEAR, Integer.toString(tidegate.port()), "1", habit)) {
            if (habit.equals("FLOOD")) {
                TwoNetworks.await(endpoint, 1, "moving");
            } else {
                TwoNetworks.await(client, 1, "ready");
            }

            List<String> lines = lose(networks, tidegate, 1, earliest, latest);

            assertTrue(lines.get(0).contains("\"reason\":\"unacked\""), lines::toString);
            assertTrue(lines.get(0).contains("\"closed_by\":\"endpoint\""), lines::toString);
            TwoNetworks.await(client, 1, "reset");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll"})
    @Tag("slow")
    void clientsThatVanishUnderADownloadAreLetGo(String transport) throws Exception {
        losesClients(transport, "FLOOD", "ANSWER", "moving", UNACKED, LATEST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("nightly")
    void clientsThatVanishInSilenceAreLetGo(String transport) throws Exception {
        losesClients(transport, "ANSWER", "WAIT", "ready", KEEPALIVE, KEEPALIVE_LATEST);
    }

    private void losesClients(
            String transport, String served, String habit, String begun, Duration earliest, Duration latest)
            throws Exception {
        int count = 8;
        try (TwoNetworks networks = new TwoNetworks();
                RunningTool endpoint = networks.peer(networks.near(), "listen", TwoNetworks.NEAR, served);
                TidegateProcess tidegate = run(networks, endpoint, TwoNetworks.NEAR, transport);
                RunningTool clients = networks.peer(
                        networks.far(),
                        "connect",
                        TwoNetworks.NEAR,
                        Integer.toString(tidegate.port()),
                        Integer.toString(count),
                        habit)) {
            TwoNetworks.await(clients, count, begun);

            List<String> lines = lose(networks, tidegate, count, earliest, latest);

            for (String line : lines) {
                assertTrue(line.contains("\"reason\":\"unacked\""), line);
                assertTrue(line.contains("\"closed_by\":\"client\""), line);
            }
            TwoNetworks.await(endpoint, count, "reset");
        }
    }

    /** Loses the path, and gives the access log once it has that many lines. */
    private static List<String> lose(
            TwoNetworks networks, TidegateProcess tidegate, int count, Duration earliest, Duration latest) {
        assertEquals(List.of(), tidegate.out());
        long lostNanos = System.nanoTime();
        networks.loseThePath();
        Await.until(count + " connections ended", latest, () -> tidegate.out().size() >= count);
        long millis = (System.nanoTime() - lostNanos) / 1_000_000;
        // The kernel's clock ticks every few milliseconds; keepalive counts from the last byte before.
        assertTrue(millis >= earliest.toMillis() - 500, () -> "after " + millis + " ms: " + tidegate.out());
        return tidegate.out();
    }

    private TidegateProcess run(TwoNetworks networks, RunningTool endpoint, String address, String transport)
            throws Exception {
        Await.until(
                "the endpoint listens",
                Duration.ofSeconds(30),
                () -> endpoint.stdout().contains("\n"));
        String port = endpoint.stdout().replace("listening", "").strip();
        return TidegateProcess.run(directory, """
                process: {warm-up: off, workers: 1, transport: %s}
                frontends:
                  - {name: front, listen: "%s:0", backend: back, timeouts: {unacked: 2s, idle: 1h}}
                backends:
                  - name: back
                    endpoints: [{address: "%s:%s"}]
                """.formatted(transport, TwoNetworks.NEAR, address, port))
                .inNetwork(networks.near())
                .start();
    }
}
