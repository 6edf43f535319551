package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HUP on {@code tidegate run}. */
class ReloadIT {
    private static final String COLD = "process: {warm-up: off}\n";

    @TempDir
    Path directory;

    private static ScriptedBackend named(String name) {
        return ScriptedBackend.start(
                Scripts.greet(name.getBytes(StandardCharsets.US_ASCII)).then(Scripts.echo()));
    }

    private static String yaml(ScriptedBackend backend, String more) {
        return more + """
                frontends:
                  - {name: front, listen: "127.0.0.1:0", backend: back}
                backends:
                  - {name: back, endpoints: [{name: e, address: "%s"}]}
                """.formatted(backend.hostPort());
    }

    private void write(String yaml) throws IOException {
        Files.writeString(directory.resolve("tidegate.yaml"), yaml);
    }

    private static void assertServedBy(String name, TidegateProcess tidegate) throws IOException {
        try (ScriptedClient client = tidegate.connect()) {
            assertEquals(name, client.readText(1));
        }
    }

    private static void assertEchoes(ScriptedClient client) throws IOException {
        client.send("ping");
        assertEquals("ping", client.readText(4));
    }

    private static long count(TidegateProcess tidegate, String text) {
        return tidegate.err().stream().filter(line -> line.contains(text)).count();
    }

    @Test
    void hupAppliesAChangedFileUnderConnectionsThatGoOn() throws Exception {
        try (ScriptedBackend a = named("a");
                ScriptedBackend b = named("b");
                TidegateProcess tidegate =
                        TidegateProcess.run(directory, yaml(a, COLD)).start();
                ScriptedClient client = tidegate.connect()) {
            client.readText(1);
            write(yaml(b, "process: {warm-up: off, workers: 3}\nlog: {level: debug}\n"));
            tidegate.signal("HUP");

            tidegate.awaitErr("reload applied gen=2 changes=2");
            tidegate.awaitErr("change backends.back.endpoints.e.address from " + a.hostPort() + " to " + b.hostPort()
                    + ", retires connections: 1");
            assertTrue(tidegate.awaitErr("needs a restart").contains("process.workers from auto to 3"));
            tidegate.awaitErr("DEBUG"); // the level holds at once
            assertServedBy("b", tidegate);
            assertEchoes(client);
        }
    }

    @Test
    void hupWithABadFileTellsEveryProblemAndChangesNothing() throws Exception {
        try (ScriptedBackend a = named("a");
                TidegateProcess tidegate =
                        TidegateProcess.run(directory, yaml(a, COLD)).start();
                ScriptedClient client = tidegate.connect()) {
            client.readText(1);
            write(yaml(a, "process: {workres: 3}\n")
                    .replace("backend: back", "backend: bakc")
                    .replace("name: e", "weight: -1"));
            tidegate.signal("HUP");

            tidegate.awaitErr("reload rejected, nothing changed gen=1");
            String file = directory.resolve("tidegate.yaml").toString();
            List<String> problems = tidegate.err().stream()
                    .filter(line -> line.contains("ERROR") && line.contains(file + ":"))
                    .toList();
            assertEquals(3, problems.size(), problems.toString());
            assertServedBy("a", tidegate);
            assertEchoes(client);

            Files.delete(directory.resolve("tidegate.yaml"));
            tidegate.signal("HUP");
            tidegate.awaitErr("does not exist");
            assertServedBy("a", tidegate);
            assertEchoes(client);
        }
    }

    /** It waited for a writer, and every later reload waited behind it. */
    @Test
    void hupWithAPipeInPlaceOfTheFileIsRejectedAtOnceAndTheNextOneWorks() throws Exception {
        Path file = directory.resolve("tidegate.yaml");
        try (ScriptedBackend a = named("a");
                ScriptedBackend b = named("b");
                TidegateProcess tidegate =
                        TidegateProcess.run(directory, yaml(a, COLD)).start()) {
            Files.delete(file);
            TidegateProcess.command("mkfifo", file.toString());
            tidegate.signal("HUP");
            assertTrue(tidegate.awaitErr("cannot be read: it is a pipe").contains(file + ":1:1: file "));
            tidegate.awaitErr("reload rejected, nothing changed gen=1");
            assertServedBy("a", tidegate);

            Files.delete(file);
            Path real = Files.writeString(directory.resolve("real.yaml"), yaml(b, COLD));
            Files.createSymbolicLink(file, real);
            tidegate.signal("HUP");
            tidegate.awaitErr("reload applied gen=2");
            assertServedBy("b", tidegate);
        }
    }

    @Test
    void aWatchedFileThatChangesIsReloadedWithoutASignal() throws Exception {
        try (ScriptedBackend a = named("a");
                ScriptedBackend b = named("b")) {
            write(yaml(a, COLD));
            String file = directory.resolve("tidegate.yaml").toString();
            try (TidegateProcess tidegate =
                    TidegateProcess.with("run", "--watch", "--config", file).start()) {
                assertServedBy("a", tidegate);
                write(yaml(b, COLD + "# changed\n"));
                tidegate.awaitErr("reload applied gen=2 changes=1");
                assertServedBy("b", tidegate);
                write("nothing: good\n");
                tidegate.awaitErr("reload rejected, nothing changed gen=2");
                assertServedBy("b", tidegate);
                assertEquals(2, count(tidegate, "the configuration has changed"));
            }
        }
    }

    @Test
    void fiveHupsInARowEndWithTheFileAsItIsLast() throws Exception {
        try (ScriptedBackend a = named("a");
                ScriptedBackend b = named("b");
                TidegateProcess tidegate =
                        TidegateProcess.run(directory, yaml(a, COLD)).start()) {
            for (int i = 0; i < 5; i++) {
                write(yaml(i % 2 == 0 ? b : a, COLD));
                tidegate.signal("HUP");
                // A signal that is not yet delivered swallows the next of its kind.
                int sent = i + 1;
                Await.until("it is received", () -> count(tidegate, "HUP received") == sent);
            }
            Await.until("the last is in force", () -> {
                try (ScriptedClient client = tidegate.connect()) {
                    return client.readText(1).equals("b");
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            tidegate.signal("HUP");
            tidegate.awaitErr("reload: nothing to change");
            assertServedBy("b", tidegate);
        }
    }

    @Test
    void hupDuringAStopIsIgnoredWithALine() throws Exception {
        try (ScriptedBackend a = named("a");
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(a, "process: {warm-up: off, shutdown: {deadline: 30s, lame-duck: 20s}}\n"))
                        .start()) {
            tidegate.signal("TERM");
            tidegate.awaitErr("stopping connections=");
            tidegate.signal("HUP");
            tidegate.awaitErr("reload ignored: the process is stopping");
            tidegate.signal("INT");
            assertEquals(0, tidegate.awaitExit());
        }
    }
}
