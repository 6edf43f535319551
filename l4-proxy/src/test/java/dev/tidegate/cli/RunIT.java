package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code tidegate run} as operators meet it: exit codes, signals, lines. */
class RunIT {
    private static final int IO_URING_SETUP = 425;

    @TempDir
    Path directory;

    @Test
    void aBadConfigurationExits78WithEveryProblemOnALineOfItsOwn() throws Exception {
        String yaml = """
                frontends:
                  - {name: front, listen: "127.0.0.1:99999", backend: bakc}
                backends:
                  - name: back
                    endpoints: [{adress: "127.0.0.1:80"}]
                """;
        try (TidegateProcess tidegate = TidegateProcess.run(directory, yaml).startOnly()) {
            assertEquals(78, tidegate.awaitExit());

            String file = directory.resolve("tidegate.yaml").toString();
            List<String> problems = tidegate.err();
            assertTrue(problems.size() >= 3, problems.toString());
            assertTrue(
                    problems.stream().allMatch(line -> line.matches("\\Q" + file + "\\E:\\d+:\\d+: .*")),
                    () -> problems.toString());
            assertEquals(List.of(), tidegate.out());
        }
    }

    @Test
    void aMissingConfigurationExits78WithOneLine() throws Exception {
        String missing = directory.resolve("none.yaml").toString();
        try (TidegateProcess tidegate =
                TidegateProcess.with("run", "--config", missing).startOnly()) {
            assertEquals(78, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            assertTrue(tidegate.err().get(0).contains(missing));
        }
    }

    @Test
    void aWrongArgumentExits2() throws Exception {
        try (TidegateProcess tidegate =
                TidegateProcess.with("run", "--nonsense").startOnly()) {
            assertEquals(2, tidegate.awaitExit());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    void aPortInUseExits1WithOneLineThatNamesIt(String transport) throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "127.0.0.1:" + taken.getLocalPort(), "transport: " + transport))
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            String line = tidegate.err().get(0);
            assertTrue(line.contains("127.0.0.1:" + taken.getLocalPort()) && line.contains("already in use"), line);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    void anAddressOfAnotherMachineExits1WithOneLineThatSaysWhatWouldBeRight(String transport) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "192.0.2.1:0", "transport: " + transport))
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            String line = tidegate.err().get(0);
            assertTrue(line.contains("192.0.2.1:0: no interface of this machine has the address; write "), line);
        }
    }

    @Test
    void signalsThatWereIgnoredWhenItStartedStaySoAndAreNamed() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "transport: auto"))
                        .ignoring("HUP")
                        .start()) {
            String line = tidegate.awaitErr("signals ignored");
            assertTrue(line.endsWith(": HUP"), line);

            tidegate.signal("HUP");
            tidegate.signal("TERM");

            assertEquals(0, tidegate.awaitExit());
            assertTrue(
                    tidegate.err().stream().noneMatch(said -> said.contains("HUP received")),
                    () -> tidegate.err().toString());
        }
    }

    @Test
    void anAdminPortInUseExits1WithOneLineToo() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "127.0.0.1:0", "transport: auto") + "admin: {listen: \"127.0.0.1:"
                                        + taken.getLocalPort() + "\"}\n")
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            List<String> ours = tidegate.err().stream()
                    .filter(line -> !line.contains(" INFO "))
                    .toList();
            assertEquals(1, ours.size(), tidegate.err().toString());
            assertTrue(ours.get(0).contains(":" + taken.getLocalPort()), ours.get(0));
        }
    }

    /** collectd/collectd#4391: a JVM that TERM ends exits with 143, which counts as a failure. */
    @Test
    void termExits0AtOnceWhenIdle() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "shutdown: {deadline: 5m, spread: 10s}"))
                        .start()) {
            tidegate.signal("TERM");

            assertEquals(0, tidegate.awaitExit(Duration.ofSeconds(10)));
            assertTrue(
                    tidegate.err().stream().anyMatch(line -> line.contains("stopped cut=0")),
                    () -> tidegate.err().toString());
        }
    }

    /** cloudamqp/amqproxy#74: there was no way to be done with an orderly end. */
    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void aSecondSignalStopsNow(String second) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "shutdown: {deadline: 1h, spread: 30m}"))
                        .start();
                var client = tidegate.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            tidegate.signal("TERM");
            tidegate.awaitErr("stopping connections=1");
            assertTrue(tidegate.isAlive());

            tidegate.signal(second);

            assertEquals(0, tidegate.awaitExit(Duration.ofSeconds(10)));
            assertEquals(End.Kind.RST, client.readToEnd().kind());
            assertTrue(
                    tidegate.err().stream().anyMatch(line -> line.contains("stopped cut=1")),
                    () -> tidegate.err().toString());
            assertTrue(
                    tidegate.out().stream().anyMatch(line -> line.contains("\"shutdown\"")),
                    () -> tidegate.out().toString());
        }
    }

    /** The last line said that none was cut. */
    @Test
    void intStopsNowAndCountsEveryConnectionThatItResetsAsCut() throws Exception {
        List<ScriptedClient> clients = new ArrayList<>();
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "shutdown: {deadline: 1h, spread: 30m}"))
                        .start()) {
            for (int i = 0; i < 5; i++) {
                clients.add(tidegate.connect());
                clients.get(i).send("ping");
                assertEquals("ping", clients.get(i).readText(4));
            }

            tidegate.signal("INT");

            assertEquals(0, tidegate.awaitExit(Duration.ofSeconds(10)));
            for (ScriptedClient client : clients) {
                assertEquals(End.Kind.RST, client.readToEnd().kind());
            }
            assertTrue(
                    tidegate.err().stream().anyMatch(line -> line.endsWith("stopped cut=5")),
                    () -> tidegate.err().toString());
        } finally {
            clients.forEach(ScriptedClient::close);
        }
    }

    /** The configuration is a pipe to which nobody writes, so that the start stays where it is. */
    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void whileTheConfigurationIsReadOnlyARequestToStopEndsTheProcess(String stop) throws Exception {
        Path pipe = directory.resolve("config.pipe");
        TidegateProcess.command("mkfifo", pipe.toString());
        try (TidegateProcess tidegate =
                TidegateProcess.with("run", "--config", pipe.toString()).startOnly()) {
            Await.until("signals are caught", Duration.ofSeconds(60), () -> catchesUsr1(tidegate.pid()));
            tidegate.signal("HUP");
            tidegate.awaitErr("HUP remembered: the process is starting");
            tidegate.signal("USR1");
            tidegate.awaitErr("USR1 ignored: the process is starting");
            assertTrue(tidegate.isAlive());

            tidegate.signal(stop);

            assertEquals(0, tidegate.awaitExit());
        }
    }

    private static boolean catchesUsr1(long pid) {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                    .filter(line -> line.startsWith("SigCgt:"))
                    .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 1L << 9) != 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aListenerIsLoggedWithItsFrontendItsConfiguredFormAndWhereItIsBound() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "[::]:0", "transport: auto") + "admin: {listen: \"[::1]:0\"}\n")
                        .start()) {
            String line = tidegate.awaitErr("listening frontend=");
            assertTrue(line.matches(".*listening frontend=front listener=\\[::\\]:0 bound=\\[::\\]:[1-9]\\d*"), line);
            String admin = tidegate.awaitErr("admin API on ");
            assertTrue(admin.matches(".*admin API on \\[::1\\]:[1-9]\\d*"), admin);
        }
    }

    @Test
    void anAccessLogThatCannotBeOpenedExits1WithOneLine() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "127.0.0.1:0", "transport: auto") + "log: {access: {path: "
                                        + directory.resolve("none/access.log") + "}}\n")
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
        }
    }

    /** The first workers have their loops (or rings) when those of the last ones fail. */
    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    void withTooFewDescriptorsToStartItExits1WithOneLine(String transport) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "127.0.0.1:0", "transport: " + transport)
                                        .replace("workers: 1", "workers: 100"))
                        .limited("--nofile=160:160")
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            assertTrue(
                    tidegate.err().get(0).startsWith("tidegate: cannot start: "),
                    tidegate.err().get(0));
        }
    }

    /** linkerd/linkerd2-proxy#1815: a graceful stop waited for open connections for ever. */
    @Test
    void aStopEndsAtItsDeadlineWith0AndTellsHowManyWereCut() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.start(connection -> {
                    connection.send("x");
                    connection.hold();
                });
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "shutdown: {deadline: 2s, spread: 0s}"))
                        .start();
                var client = tidegate.connect()) {
            client.send("asked, and never answered");
            assertEquals("x", client.readText(1));
            client.send("again");
            long begin = System.nanoTime();

            tidegate.signal("TERM");

            assertEquals(0, tidegate.awaitExit(Duration.ofSeconds(20)));
            long millis = (System.nanoTime() - begin) / 1_000_000;
            assertTrue(millis >= 900, "ended after " + millis + " ms, while an answer was owed");
            // Silence for half of what remained was the best moment on offer: a quiet end, and no cut.
            assertTrue(
                    tidegate.err().stream().anyMatch(line -> line.matches(".*\\bstopped cut=0\\b.*")),
                    tidegate.err()::toString);
        }
    }

    /** spring-projects/spring-boot#4378, atris/JDBC_FDW#18: HUP ended the JVM. */
    @Test
    void hangUpNeverKillsIt() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "transport: auto"))
                        .start();
                var before = tidegate.connect()) {
            before.send("ping");
            assertEquals("ping", before.readText(4));
            for (int i = 1; i <= 5; i++) {
                int count = i;
                tidegate.signal("HUP");
                Await.until(
                        "HUP " + i + " is answered",
                        () -> count
                                == tidegate.err().stream()
                                        .filter(line -> line.contains("reload: nothing to change"))
                                        .count());
            }

            before.send("pong");
            assertEquals("pong", before.readText(4));
            try (var after = tidegate.connect()) {
                after.send("ping");
                assertEquals("ping", after.readText(4));
            }
            assertTrue(tidegate.isAlive());
        }
    }

    @Test
    void usr1ReopensTheAccessLog() throws Exception {
        Path file = directory.resolve("access.log");
        Path rotated = directory.resolve("access.log.1");
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "127.0.0.1:0", "transport: auto") + "log: {access: {path: " + file
                                        + "}}\n")
                        .start()) {
            tidegate.connect().close();
            Await.until("a line", () -> lines(file) == 1);
            Files.move(file, rotated);
            tidegate.signal("USR1");
            Await.until("the file is there again", () -> Files.exists(file));

            tidegate.connect().close();

            Await.until("a line in the new file", () -> lines(file) == 1);
            assertEquals(1, lines(rotated));
        }
    }

    /** netty/netty#7319: a native library that is missing made a frightening stack trace. */
    @Test
    void withoutNativeLibrariesItRunsOnNioAndSaysSoInOneLine() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "transport: auto"))
                        .jvm("-Dio.netty.transport.noNative=true")
                        .start();
                var client = tidegate.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));

            assertSpeaksPlainly(tidegate);
            assertTrue(tidegate.awaitErr("started version=").contains("transport=nio (auto: no epoll: "));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll"})
    void aTransportAskedForThatIsNotThereExits1WithOneLine(String transport) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "transport: " + transport))
                        .jvm("-Dio.netty.transport.noNative=true")
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            assertTrue(tidegate.err().get(0).contains("\"" + transport + "\" is not available here"));
        }
    }

    /**
     * netty-incubator-transport-io_uring#41: a container's seccomp profile forbade it; #163 there: no memory for a ring.
     */
    @ParameterizedTest
    @CsvSource({"1, Operation not permitted", "12, Cannot allocate memory"})
    void anIoUringThatTheKernelRefusesExits1WithOneLineThatSaysWhy(int errno, String words) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "transport: io_uring"))
                        .refusing(IO_URING_SETUP, errno)
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            String line = tidegate.err().get(0);
            assertTrue(line.contains("\"io_uring\" is not available here"), line);
            assertTrue(line.contains(words), line);
        }
    }

    /** netty/netty-incubator-transport-io_uring#41. */
    @Test
    void whereIoUringIsForbiddenItRunsOnAnotherTransportAndSaysWhich() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "127.0.0.1:0", "transport: auto"))
                        .refusing(IO_URING_SETUP, 1)
                        .start();
                var client = tidegate.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));

            assertSpeaksPlainly(tidegate);
            assertTrue(tidegate.awaitErr("started version=").contains("transport=epoll (auto: "));
        }
    }

    /** netty/netty-incubator-transport-io_uring#163: rings count as locked memory, of which a container has little. */
    @Test
    void withTooLittleMemoryToLockForItsRingsItExits1WithOneLineThatNamesTheLimit() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "127.0.0.1:0", "transport: io_uring")
                                        .replace("workers: 1", "workers: 32"))
                        .unshared("-r", "prlimit --pid $$ --memlock=65536:65536")
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            String line = tidegate.err().get(0);
            assertTrue(line.startsWith("tidegate: cannot start: failed to allocate memory for io_uring ring"), line);
            assertTrue(line.contains("memlock"), line);
        }
    }

    private static void assertSpeaksPlainly(TidegateProcess tidegate) {
        List<String> err = tidegate.err();
        assertFalse(
                err.stream().anyMatch(line -> line.startsWith("\tat ") || line.contains("Exception:")),
                () -> String.join("\n", err));
        assertTrue(err.size() <= 6, () -> String.join("\n", err));
    }

    private static long lines(Path file) {
        try {
            return Files.exists(file)
                    ? Files.readString(file, StandardCharsets.UTF_8).lines().count()
                    : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String yaml(ScriptedBackend backend, String listen, String process) {
        return """
                process: {workers: 1, warm-up: off, %s}
                frontends:
                  - {name: front, listen: "%s", backend: back}
                backends:
                  - name: back
                    endpoints: [{address: "%s"}]
                """.formatted(process, listen, backend.hostPort());
    }
}
