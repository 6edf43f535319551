package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.Fds;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedConnection;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a process does when the system gives it no more descriptors or memory, and after that. */
class ExhaustionIT {
    @TempDir
    Path directory;

    /**
     * netty/netty#3911, vibe-d/eventcore#49, kubernetes/kubernetes#5461: accept failed for want of descriptors, and the
     * loop span over it, logging each time.
     */
    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("slow")
    void withoutDescriptorsExistingConnectionsGoOnAndNewOnesAreServedLater(String transport) throws Exception {
        atTheDescriptorLimit(transport, Duration.ofSeconds(3));
    }

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("nightly")
    void withoutDescriptorsForAMinuteTheLogStaysSmall(String transport) throws Exception {
        atTheDescriptorLimit(transport, Duration.ofSeconds(60));
    }

    private void atTheDescriptorLimit(String transport, Duration held) throws Exception {
        List<ScriptedClient> served = new ArrayList<>();
        List<ScriptedClient> waiting = new ArrayList<>();
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = run(backend, transport).start()) {
            for (int i = 0; i < 50; i++) {
                served.add(tidegate.connect());
                echo(served.get(i), "hello");
            }
            String before = limit(tidegate.pid());
            setLimit(tidegate.pid(), free(tidegate.pid(), 0) + ":");
            long cpuBefore = cpuTicks(tidegate.pid());
            long begin = System.nanoTime();
            // io_uring's accept was armed, and has the limit of that time: there it is the dial that finds no
            // descriptor.
            boolean acceptFails = !transport.equals("io_uring");
            for (int i = 0; i < 20; i++) {
                try {
                    waiting.add(tidegate.connect());
                } catch (PeerGoneException atOnce) {
                    assertFalse(acceptFails, "reset, though it could not be accepted");
                }
            }
            tidegate.awaitErr(acceptFails ? "accept failed" : "connects to endpoint failed");
            long rounds = 0;
            while (System.nanoTime() - begin < held.toNanos()) {
                ScriptedClient client = served.get((int) (rounds++ % served.size()));
                long sent = System.nanoTime();
                echo(client, "still there");
                long millis = (System.nanoTime() - sent) / 1_000_000;
                assertTrue(millis < 1_000, "an existing connection waited for " + millis + " ms");
                Await.until("a moment", () -> System.nanoTime() - sent > 5_000_000);
            }
            double seconds = (System.nanoTime() - begin) / 1e9;
            double cpuSeconds = (cpuTicks(tidegate.pid()) - cpuBefore) / 100.0;
            assertTrue(cpuSeconds < 0.6 * seconds, "CPU " + cpuSeconds + " s of " + seconds + " s");
            long lines = tidegate.err().stream()
                    .filter(line -> line.contains(" failed"))
                    .count();
            assertTrue(lines >= 1 && lines <= seconds + 2, lines + " lines in " + seconds + " s");
            assertNoStackTrace(tidegate);

            setLimit(tidegate.pid(), before + ":");

            for (ScriptedClient client : waiting) {
                if (acceptFails) {
                    echo(client, "at last");
                } else {
                    assertEquals(End.Kind.RST, client.readToEnd().kind());
                }
            }
            closeAll(served);
            closeAll(waiting);
            echoOnce(tidegate);
        } finally {
            closeAll(served);
            closeAll(waiting);
        }
    }

    /** Descriptors are few from the start: the limit on connections that follows from them keeps a reserve. */
    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("slow")
    void withFewDescriptorsFromTheStartClientsAreRefusedBeforeDescriptorsRunOut(String transport) throws Exception {
        List<ScriptedClient> served = new ArrayList<>();
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate =
                        run(backend, transport).limited("--nofile=256:256").start()) {
            for (int i = 0; i < 61; i++) {
                served.add(tidegate.connect());
                echo(served.get(i), "hello");
            }
            for (int i = 0; i < 200; i++) {
                try (ScriptedClient refused = tidegate.connect()) {
                    assertEquals(End.Kind.RST, refused.readToEnd().kind());
                } catch (PeerGoneException atOnce) {
                    assertEquals(Ending.RST, atOnce.ending());
                }
            }
            for (ScriptedClient client : served) {
                echo(client, "still there");
            }
            tidegate.awaitErr("clients refused: limit reached");
            assertFalse(tidegate.err().stream().anyMatch(line -> line.contains("accept failed")));
            closeAll(served);
            Await.until("room again", () -> serves(tidegate.port()));
        } finally {
            closeAll(served);
        }
    }

    /** A descriptor is left for the client's socket but none for the endpoint's: a dial that failed, not a leak. */
    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("slow")
    void withADescriptorForOneSideOnlyTheClientIsResetAndNothingLeaks(String transport) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = run(backend, transport).start()) {
            long listening = sockets(tidegate);
            echoOnce(tidegate);
            Await.until("the log has it", () -> tidegate.out().size() == 1);
            // io_uring closes after that: a descriptor that is given back later would be one more that is free.
            Await.until("its sockets are closed", () -> sockets(tidegate) == listening);
            int base = Fds.count(tidegate.pid());
            String before = limit(tidegate.pid());
            setLimit(tidegate.pid(), free(tidegate.pid(), 1) + ":");
            for (int i = 0; i < 5; i++) {
                assertEquals(End.Kind.RST, endOfAConnection(tidegate));
            }
            Await.until(
                    "five failed dials",
                    () -> tidegate.out().stream()
                                    .filter(line -> line.contains("\"dial-failed\""))
                                    .count()
                            == 5);
            assertEquals(base, Fds.count(tidegate.pid()));
            assertNoStackTrace(tidegate);

            setLimit(tidegate.pid(), before + ":");

            echoOnce(tidegate);
        }
    }

    static long sockets(TidegateProcess tidegate) {
        return Fds.open(tidegate.pid()).values().stream()
                .filter(target -> target.startsWith("socket:"))
                .count();
    }

    /** The reset may come while the client still connects. */
    private static End.Kind endOfAConnection(TidegateProcess tidegate) throws java.io.IOException {
        try (ScriptedClient client = tidegate.connect()) {
            return client.readToEnd().kind();
        } catch (PeerGoneException atOnce) {
            return End.Kind.RST;
        }
    }

    /**
     * netty/netty#7396: direct memory ran out, and allocation failed again and again. Not io_uring: the ring of buffers
     * that its reads come from does not fill up again after that.
     */
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @Tag("slow")
    void withoutDirectMemoryItShedsLoadAndWorksAgainAfterwards(String transport) throws Exception {
        List<ScriptedClient> clients = new ArrayList<>();
        try (ScriptedBackend stuck = ScriptedBackend.neverReading();
                ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, twoFrontends(stuck, backend, transport))
                        .jvm("-XX:MaxDirectMemorySize=32m")
                        // Netty then counts direct memory itself; the JDK's own count collects garbage and sleeps for
                        // half a second, on the worker, each time that there is none left.
                        .jvm("--add-opens=java.base/java.nio=ALL-UNNAMED", "-Dio.netty.tryReflectionSetAccessible=true")
                        .start()) {
            int stuckPort = port(tidegate, "stuck");
            // Until it has shed some: then memory is short.
            for (int i = 0; shed(tidegate) < 5; i++) {
                assertTrue(i < 2_000, "memory is not used up");
                ScriptedClient client = ScriptedClient.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), stuckPort),
                        ScriptedClient.Options.DEFAULT.withSendBuffer(64 * 1024));
                clients.add(client);
                try {
                    client.sendUntilBlocked(i, 8 << 20, Duration.ofMillis(10));
                } catch (PeerGoneException gone) {
                    client.close();
                }
            }
            assertTrue(tidegate.isAlive());
            closeAll(clients);
            stuck.connections().forEach(ScriptedConnection::close);

            Await.until("it serves again", Duration.ofSeconds(60), () -> serves(port(tidegate, "front")));
            for (int i = 0; i < 20; i++) {
                assertTrue(serves(port(tidegate, "front")));
            }
            long logBytes = tidegate.err().stream().mapToLong(String::length).sum();
            assertTrue(
                    logBytes < 100_000,
                    () -> "log of " + logBytes + " bytes: " + tidegate.err().get(5));
        } finally {
            closeAll(clients);
        }
    }

    /**
     * envoyproxy/envoy#32900: peers that stay slow hold most of the memory. What each may hold is bounded, new ones are shed
     * when there is no more (close reason {@code overload}), and the others are served as before.
     */
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @Tag("nightly")
    void twoThousandSlowReadersTakeNothingFromTheOthers(String transport) throws Exception {
        List<ScriptedClient> slow = new ArrayList<>();
        List<ScriptedClient> others = new ArrayList<>();
        try (ScriptedBackend flood = ScriptedBackend.start(Scripts.streamForever(4));
                ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, twoFrontends(flood, backend, transport))
                        .jvm("-XX:MaxDirectMemorySize=320m")
                        .jvm("--add-opens=java.base/java.nio=ALL-UNNAMED", "-Dio.netty.tryReflectionSetAccessible=true")
                        .start()) {
            for (int i = 0; i < 50; i++) {
                others.add(ScriptedClient.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port(tidegate, "front"))));
            }
            long before = slowestEchoNanos(others);
            InetSocketAddress address =
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port(tidegate, "stuck"));
            for (int i = 0; i < 2_000; i++) {
                slow.add(ScriptedClient.connect(address, ScriptedClient.Options.DEFAULT.withReceiveBuffer(64 * 1024)));
            }
            Await.until(
                    "all are answered or shed",
                    Duration.ofSeconds(60),
                    () -> flood.connections().size() + shed(tidegate) >= 2_000);
            long during = slowestEchoNanos(others);
            System.out.println(transport + ": slowest of 5,000 echoes " + before / 1000 + " us before, " + during / 1000
                    + " us beside 2,000 slow readers; shed " + shed(tidegate));

            assertTrue(tidegate.isAlive());
            assertTrue(during < Duration.ofSeconds(1).toNanos(), () -> "an echo took " + during + " ns");
        } finally {
            closeAll(slow);
            closeAll(others);
        }
    }

    private static long slowestEchoNanos(List<ScriptedClient> clients) throws IOException {
        long slowest = 0;
        for (int round = 0; round < 100; round++) {
            for (ScriptedClient client : clients) {
                long start = System.nanoTime();
                echo(client, "ping");
                slowest = Math.max(slowest, System.nanoTime() - start);
            }
        }
        return slowest;
    }

    /** Connections that the access log tells were ended for want of memory. */
    private static long shed(TidegateProcess tidegate) {
        return tidegate.out().stream()
                .filter(line -> line.contains("\"overload\""))
                .count();
    }

    private static boolean serves(int port) {
        try (ScriptedClient client = ScriptedClient.connect(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                ScriptedClient.Options.DEFAULT.withBound(Duration.ofSeconds(2)))) {
            client.send("ping");
            client.shutdownOutput();
            return client.readToEnd().bytes() == 4;
        } catch (IOException notYet) {
            return false;
        }
    }

    private static int port(TidegateProcess tidegate, String frontend) {
        String line = tidegate.awaitErr("listening frontend=" + frontend);
        return Integer.parseInt(line.substring(line.lastIndexOf(':') + 1));
    }

    private static void assertNoStackTrace(TidegateProcess tidegate) {
        assertFalse(
                tidegate.err().stream().anyMatch(line -> line.startsWith("\tat ")),
                () -> String.join("\n", tidegate.err()));
    }

    private static void echoOnce(TidegateProcess tidegate) throws IOException {
        try (ScriptedClient client = tidegate.connect()) {
            echo(client, "ping");
        }
    }

    private static void echo(ScriptedClient client, String text) throws IOException {
        client.send(text);
        assertEquals(text, client.readText(text.length()));
    }

    private static void closeAll(List<ScriptedClient> clients) {
        clients.forEach(ScriptedClient::close);
    }

    /** The free descriptor number that has that many free ones below it: as a limit it leaves these. */
    static int free(long pid, int below) {
        var open = Fds.open(pid).keySet();
        int number = 0;
        for (int left = below; open.contains(number) || left-- > 0; ) {
            number++;
        }
        return number;
    }

    /** The soft limit on descriptors. */
    static String limit(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/limits")).stream()
                .filter(line -> line.startsWith("Max open files"))
                .findFirst()
                .orElseThrow()
                .split("\\s+", -1)[3];
    }

    static void setLimit(long pid, String softAndHard) throws IOException {
        TidegateProcess.command("prlimit", "--pid", Long.toString(pid), "--nofile=" + softAndHard);
    }

    /** User and system time in hundredths of a second. */
    private static long cpuTicks(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.UTF_8);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    /** Without an archive of classes, with which jars are opened late: that takes descriptors, of which there are none then. */
    private TidegateProcess.Setup run(ScriptedBackend backend, String transport) throws IOException {
        return TidegateProcess.run(directory, yaml(backend, transport)).withoutArchive();
    }

    private static String yaml(ScriptedBackend backend, String transport) {
        return """
                process: {warm-up: off, workers: 1, transport: %s}
                frontends:
                  - {name: front, listen: "127.0.0.1:0", backend: back}
                backends:
                  - name: back
                    endpoints: [{address: "%s"}]
                """.formatted(transport, backend.hostPort());
    }

    private static String twoFrontends(ScriptedBackend stuck, ScriptedBackend backend, String transport) {
        return """
                process: {warm-up: off, workers: 1, transport: %s}
                frontends:
                  - {name: stuck, listen: "127.0.0.1:0", backend: stuck}
                  - {name: front, listen: "127.0.0.1:0", backend: back}
                backends:
                  - name: stuck
                    endpoints: [{address: "%s"}]
                  - name: back
                    endpoints: [{address: "%s"}]
                """.formatted(transport, stuck.hostPort(), backend.hostPort());
    }
}
