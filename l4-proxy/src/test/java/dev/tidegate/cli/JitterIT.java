package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidegate.testkit.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A storm of connections that come together does not go together, nor come back together (grpc/grpc#10412). Clients,
 * balancer and endpoint are each a process of their own, as one may have 20,000 descriptors.
 */
@Tag("clock")
class JitterIT {
    private static final double JITTER = 0.2;
    private static final long OPENING_MILLIS = 1_000;
    private static final long BIN_MILLIS = 500;
    private static final double PEAK = 1.25;
    /** How late an end may be seen: a tick of the wheel, a turn of the loop, and that this machine does other things too. */
    private static final double LATE_MILLIS = 500;
    /** Nearly all are seen within this. */
    private static final double MOSTLY_LATE_MILLIS = 150;

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    /** One connection as its client saw it, in milliseconds since the first connect. */
    private record Seen(int generation, double bornMillis, double endMillis, boolean reset) {
        double ageMillis() {
            return endMillis - bornMillis;
        }
    }

    /** One connection as the access log has it. */
    private record Logged(double durationMillis, String reason, String how, boolean cut) {}

    private record Storm(List<Seen> seen, List<Logged> logged) {
        List<Seen> of(int generation) {
            return seen.stream().filter(one -> one.generation() == generation).toList();
        }
    }

    @Test
    @Tag("slow")
    void twoThousandThatComeTogetherGoSpreadOverTheJitter() throws Exception {
        firstWave(2_000, 4, false);
    }

    @Test
    @Tag("nightly")
    void fiveThousandThatComeTogetherGoSpreadOverTheJitter() throws Exception {
        firstWave(5_000, 10, true);
    }

    /**
     * One wave. What the log says is Tidegate's doing alone, as it does not wait for clients here.
     *
     * @param idle whether this machine does nothing else, so that clients see in time what happens
     */
    private void firstWave(int connections, int ageSeconds, boolean idle) throws Exception {
        Storm storm = storm(
                connections, "max-age: " + ageSeconds + "s, jitter: 20%, grace: 10s, quiet: 10ms, linger: 10ms", 1, 0);
        double earliest = (1 - JITTER) * ageSeconds * 1000;
        double latest = (1 + JITTER) * ageSeconds * 1000;
        double uniform = connections * BIN_MILLIS / (latest - earliest);

        List<Double> ages = storm.seen().stream().map(Seen::ageMillis).toList();
        List<Double> logged =
                storm.logged().stream().map(Logged::durationMillis).toList();
        long peakOfAges = peak(logged, earliest);
        long peakOfEnds = peak(storm.seen().stream().map(Seen::endMillis).toList(), 0);
        double lastBorn =
                storm.seen().stream().mapToDouble(Seen::bornMillis).max().orElseThrow();
        System.out.printf(
                "%d connections opened in %.0f ms, max-age %d s: ages %.1f..%.1f ms as clients saw them, %.1f..%.1f as"
                        + " logged; peak in %d ms %d of ages, %d of ends, evenly %.0f%n",
                connections,
                lastBorn,
                ageSeconds,
                min(ages),
                max(ages),
                min(logged),
                max(logged),
                BIN_MILLIS,
                peakOfAges,
                peakOfEnds,
                uniform);

        assertEquals(connections, storm.seen().size());
        assertEquals(connections, storm.logged().size());
        assertTrue(storm.seen().stream().noneMatch(Seen::reset), "some were reset");
        assertTrue(storm.logged().stream()
                .allMatch(one -> one.reason().equals("max-age") && one.how().equals("quiet") && !one.cut()));
        // A client's clock starts before the accept and stops after the end: what it sees is never too early.
        assertTrue(min(ages) >= earliest, () -> min(ages) + " ms is too early");
        assertTrue(min(logged) >= earliest, () -> min(logged) + " ms is too early");
        assertTrue(max(logged) <= latest + LATE_MILLIS, () -> max(logged) + " ms is too late");
        long late =
                logged.stream().filter(age -> age > latest + MOSTLY_LATE_MILLIS).count();
        assertTrue(late * 100 <= connections, () -> late + " were late");
        assertTrue(min(logged) < earliest + 0.1 * (latest - earliest), "the early part is empty");
        assertTrue(max(logged) > latest - 0.1 * (latest - earliest), "the late part is empty");
        assertTrue(peakOfAges <= PEAK * uniform, () -> peakOfAges + " ages in a bin");
        if (idle) {
            assertTrue(max(ages) <= latest + LATE_MILLIS, () -> max(ages) + " ms is too late");
            assertTrue(peakOfEnds <= PEAK * uniform, () -> peakOfEnds + " ends in a bin");
        }
    }

    /** Clients that come back at once: each generation is spread more widely than the one before, as theory has it. */
    @Test
    @Tag("nightly")
    void fiveGenerationsSpreadMoreAndMore() throws Exception {
        int connections = 5_000;
        int ageSeconds = 10;
        int generations = 5;
        Storm storm = storm(
                connections,
                "max-age: " + ageSeconds + "s, jitter: 20%, grace: 10s, quiet: 10ms, linger: 10ms",
                generations,
                0);

        List<Double> deviations = new ArrayList<>();
        for (int generation = 1; generation <= generations; generation++) {
            List<Double> ends =
                    storm.of(generation).stream().map(Seen::endMillis).toList();
            assertEquals(connections, ends.size());
            double deviation = deviation(ends);
            double opening = OPENING_MILLIS * OPENING_MILLIS / 12.0;
            double jitter = JITTER * ageSeconds * 1000;
            double expected = Math.sqrt(generation * jitter * jitter / 3 + opening);
            long peak = peak(ends, 0);
            System.out.printf(
                    "generation %d: deviation %.0f ms, expected %.0f; peak in %d ms %d%n",
                    generation, deviation, expected, BIN_MILLIS, peak);
            assertEquals(expected, deviation, 0.05 * expected, "generation " + generation);
            assertTrue(peak <= PEAK * connections * BIN_MILLIS / (2 * jitter), "generation " + generation);
            deviations.add(deviation);
        }
        assertEquals(deviations.stream().sorted().toList(), deviations);
        assertTrue(storm.seen().stream().noneMatch(Seen::reset), "some were reset");
    }

    /** Those that cannot be ended before their hard limit are not cut together either (envoyproxy/envoy#45101). */
    @Test
    @Tag("slow")
    void streamsThatNeverEndAreCutSpreadOverTheJitter() throws Exception {
        int connections = 300;
        double ageMillis = 2_000;
        double graceMillis = 4_000; // a quarter of it is the silence that would end one, should the endpoint be held up
        Storm storm = storm(connections, "max-age: 2s, jitter: 50%, grace: 4s, quiet: 1s", 1, 100);

        List<Double> lives = storm.logged().stream().map(Logged::durationMillis).toList();
        System.out.printf(
                "streams that never end: %.1f..%.1f ms, deviation %.0f%n", min(lives), max(lives), deviation(lives));
        assertEquals(connections, storm.seen().size());
        assertEquals(connections, storm.logged().size());
        assertTrue(storm.logged().stream()
                .allMatch(one -> one.reason().equals("max-age") && one.how().equals("cut") && one.cut()));
        assertTrue(storm.seen().stream().allMatch(Seen::reset), "a stream that was cut must not look whole");
        assertTrue(min(lives) >= 0.5 * ageMillis + graceMillis, () -> min(lives) + " ms is too early");
        assertTrue(max(lives) <= 1.5 * ageMillis + graceMillis + LATE_MILLIS, () -> max(lives) + " ms is too late");
        // Even draws over 2 s have a deviation of 577 ms.
        assertEquals(0.5 * ageMillis / Math.sqrt(3), deviation(lives), 0.12 * ageMillis, "the cuts' deviation");
        assertTrue(peak(lives, 0) <= 1.6 * connections * BIN_MILLIS / ageMillis, "the cuts come together");
    }

    // ---- a storm

    /**
     * Runs one to its end.
     *
     * @param sayMillis how often the endpoint says a byte on each connection; 0: never
     */
    private Storm storm(int connections, String lifetime, int generations, long sayMillis) throws Exception {
        Path log = directory.resolve("access.log");
        Process endpoint = java(StormEndpoint.class, sayMillis);
        try {
            String port = endpoint.inputReader(StandardCharsets.US_ASCII).readLine();
            try (TidegateProcess tidegate = TidegateProcess.run(
                            directory, """
                            admin: {listen: "unix:%s"}
                            log: {access: {path: "%s"}}
                            frontends:
                              - name: front
                                listen: "127.0.0.1:0"
                                backend: back
                                lifetime: {%s}
                            backends:
                              - name: back
                                endpoints: [{address: "127.0.0.1:%s"}]
                            """.formatted(directory.resolve("admin.sock"), log, lifetime, port))
                    .start()) {
                List<Seen> seen = clients(tidegate.port(), connections, generations);
                Await.until("all are in the log", () -> lines(log).size() >= connections * generations);
                return new Storm(seen, lines(log).stream().map(JitterIT::logged).toList());
            }
        } finally {
            endpoint.destroyForcibly().waitFor();
        }
    }

    private static List<Seen> clients(int port, int connections, int generations) throws Exception {
        Process clients = java(StormClient.class, port, connections, OPENING_MILLIS, generations);
        try {
            List<Seen> seen = clients.inputReader(StandardCharsets.US_ASCII)
                    .lines()
                    .map(JitterIT::seen)
                    .toList();
            assertTrue(clients.waitFor(10, TimeUnit.SECONDS), "the clients do not end");
            assertEquals(0, clients.exitValue(), "the clients failed, see stderr");
            return seen;
        } finally {
            clients.destroyForcibly();
        }
    }

    private static Process java(Class<?> main, long... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                Path.of(main.getProtectionDomain().getCodeSource().getLocation().getPath())
                        .toString(),
                main.getName()));
        for (long argument : arguments) {
            command.add(Long.toString(argument));
        }
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static Seen seen(String line) {
        String[] words = line.split(" ", -1);
        return new Seen(
                Integer.parseInt(words[0]),
                Long.parseLong(words[1]) / 1e6,
                Long.parseLong(words[2]) / 1e6,
                words[3].equals("RST"));
    }

    private static Logged logged(String line) {
        try {
            JsonNode node = JSON.readTree(line);
            return new Logged(
                    node.get("duration_ms").asDouble(),
                    node.get("reason").asText(),
                    node.get("how").asText(),
                    node.get("cut_mid_exchange").asBoolean());
        } catch (IOException e) {
            throw new AssertionError("not JSON: " + line, e);
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new AssertionError("cannot read " + file, e);
        }
    }

    // ---- figures

    private static double min(List<Double> values) {
        return values.stream().mapToDouble(x -> x).min().orElseThrow();
    }

    private static double max(List<Double> values) {
        return values.stream().mapToDouble(x -> x).max().orElseThrow();
    }

    private static double deviation(List<Double> values) {
        double mean = values.stream().mapToDouble(x -> x).average().orElseThrow();
        return Math.sqrt(values.stream()
                .mapToDouble(x -> (x - mean) * (x - mean))
                .average()
                .orElseThrow());
    }

    /** The most in a bin, bins counted from a start. */
    private static long peak(List<Double> values, double start) {
        return values.stream()
                .collect(Collectors.groupingBy(x -> (long) Math.floor((x - start) / BIN_MILLIS), Collectors.counting()))
                .values()
                .stream()
                .mapToLong(x -> x)
                .max()
                .orElseThrow();
    }
}
