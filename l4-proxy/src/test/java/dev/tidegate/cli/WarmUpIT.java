package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A start with a warm-up, seen from outside. */
class WarmUpIT {
    private static final String NAME = "tidegate-warm-up".substring(0, 15); // the kernel keeps no more of it

    @TempDir
    Path directory;

    @Test
    void ofAWarmUpNothingIsToBeSeenOnceTheProcessServes() throws Exception {
        Path socket = directory.resolve("admin.sock");
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "127.0.0.1:0", "2s") + "admin: {listen: \"unix:" + socket + "\"}\n")
                        .start()) {
            AdminCurl curl = new AdminCurl(socket);

            assertEquals(List.of(), tidegate.out(), "the access log");
            assertEquals(List.of(), backend.connections(), "the endpoint");
            assertFalse(
                    tidegate.err().stream().anyMatch(line -> line.contains("arm") || line.contains("stop")),
                    () -> tidegate.err().toString());
            assertEquals(
                    0,
                    curl.get("/v1/connections").expect(200).json().at("/total").asInt(-1));
            assertEquals(
                    List.of(),
                    curl.get("/metrics")
                            .expect(200)
                            .body()
                            .lines()
                            .filter(line ->
                                    line.matches("tidegate_(connections|endpoint_picks|endpoint_connects|requests"
                                            + "|sent_bytes|received_bytes|dial)_.* (?!0\\.0$|0$).*"))
                            .toList());
            assertFalse(
                    threads(tidegate.pid()).stream().anyMatch(NAME::equals),
                    () -> threads(tidegate.pid()).toString());

            try (var client = tidegate.connect()) {
                client.send("ping");
                assertEquals("ping", client.readText(4));
            }
            Await.until("the first line of the access log", () -> tidegate.out().size() == 1);
        }
    }

    @Test
    void itLeavesAsManyDescriptorsOpenAsAStartWithout() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess with = TidegateProcess.run(
                                Files.createDirectory(directory.resolve("with")), yaml(backend, "127.0.0.1:0", "2s"))
                        .start();
                TidegateProcess without = TidegateProcess.run(
                                Files.createDirectory(directory.resolve("without")),
                                yaml(backend, "127.0.0.1:0", "off"))
                        .start()) {
            Await.equal("event descriptors", descriptors(without.pid()), () -> descriptors(with.pid()));
            // By TCP: the JVM keeps one UNIX socket of its own for good once it has closed a channel.
            Await.equal("TCP sockets", tcpSockets(without.pid()), () -> tcpSockets(with.pid()));
        }
    }

    /** While it warms up, it has not begun to listen; it does not wait for the end of its time. */
    @Test
    void termDuringAWarmUpIsHeardAtOnce() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "127.0.0.1:0", "2s"))
                        .startOnly()) {
            Await.until(
                    "it warms up",
                    Duration.ofSeconds(60),
                    () -> threads(tidegate.pid()).contains(NAME) || !tidegate.isAlive());
            assertTrue(tidegate.isAlive(), () -> tidegate.err().toString());

            tidegate.signal("TERM");

            assertEquals(0, tidegate.awaitExit());
            assertTrue(
                    tidegate.err().stream().anyMatch(line -> line.endsWith("stopped cut=0")),
                    () -> tidegate.err().toString());
        }
    }

    @Test
    void whereLoopbackHasAnotherAddressItStartsWithoutAndSaysSoInOneLine() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "0.0.0.0:0", "2s"))
                        .unshared(
                                "-rn",
                                "ip link set lo up && ip address flush dev lo && ip address add 10.9.8.7/32 dev lo")
                        .start()) {
            List<String> told = tidegate.err().stream()
                    .filter(line -> line.contains("WarmUp"))
                    .toList();
            assertEquals(1, told.size(), () -> tidegate.err().toString());
            assertTrue(told.get(0).contains("not warmed up, the first connections may be slow: "), told.get(0));
            assertFalse(
                    tidegate.err().stream().anyMatch(line -> line.startsWith("\tat ")),
                    () -> tidegate.err().toString());
        }
    }

    private static Collection<String> threads(long pid) {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
            Collection<String> names = new TreeSet<>();
            for (Path task : tasks.toList()) {
                name(task, names);
            }
            return names;
        } catch (NoSuchFileException ended) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void name(Path task, Collection<String> names) {
        try {
            names.add(Files.readString(task.resolve("comm")).strip());
        } catch (IOException ended) {
            // A thread that has ended since the list was made has no name, and the kernel says so in several ways.
            assertFalse(Files.exists(task.resolve("comm")) && ended instanceof NoSuchFileException);
        }
    }

    private static int tcpSockets(long pid) {
        return Sockets.ofProcess(pid).size();
    }

    /** Of those kinds that event loops have. */
    private static List<String> descriptors(long pid) {
        try (Stream<Path> all = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return all.map(WarmUpIT::target)
                    .filter(target -> target.startsWith("anon_inode:"))
                    .map(target -> target.replaceAll("\\d+", "N"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException closed) {
            return "closed meanwhile: " + closed.getMessage();
        }
    }

    private static String yaml(ScriptedBackend backend, String listen, String warmUp) {
        return """
                process: {workers: 2, warm-up: %s, shutdown: {deadline: 2s, spread: 0s}}
                frontends:
                  - {name: front, listen: "%s", backend: back}
                backends:
                  - name: back
                    endpoints: [{address: "%s"}]
                """.formatted(warmUp, listen, backend.hostPort());
    }
}
