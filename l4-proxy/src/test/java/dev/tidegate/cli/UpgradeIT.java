package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.NotifySocket;
import dev.tidegate.testkit.Requirement;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that take over from each other, while connections come and stay. */
@Timeout(240)
class UpgradeIT {
    private static final Duration BOUND = Duration.ofSeconds(90);

    @TempDir
    Path directory;

    private final List<Long> started = new ArrayList<>();

    @AfterEach
    void endAll() {
        for (long pid : started) {
            ProcessHandle.of(pid).ifPresent(process -> {
                process.destroyForcibly();
                process.onExit().join();
            });
        }
    }

    @Test
    @Tag("slow")
    void twoUpgradesUnderLoadRefuseAndResetNobody() throws Exception {
        upgrade(2);
    }

    @Test
    @Tag("nightly")
    @Timeout(600)
    void tenUpgradesUnderLoadRefuseAndResetNobody() throws Exception {
        upgrade(10);
    }

    private void upgrade(int times) throws Exception {
        try (OpenLoop loop = OpenLoop.start();
                ScriptedBackend echo = ScriptedBackend.echo();
                // The next one warms up beside the one that serves, and knows its endpoints before it accepts.
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                refusingBeforeItsChecks(yaml(loop.endpoint(), echo.address()))
                                        .replace("warm-up: off", "warm-up: 1s"))
                        .start()) {
            InetSocketAddress front = new InetSocketAddress(InetAddress.getLoopbackAddress(), tidegate.port());
            loop.arrive(front, 1_000);
            long pid = tidegate.pid();
            for (int i = 0; i < times; i++) {
                long enough = loop.served() + 1_000;
                Await.until(
                        "more are served",
                        BOUND,
                        () -> loop.served() >= enough || !loop.failures().isEmpty());
                assertEquals(List.of(), loop.failures());
                try (ScriptedClient longOne = ScriptedClient.connect(longPort())) {
                    assertEcho(longOne);

                    CompletableFuture<String> upgrade = CompletableFuture.supplyAsync(this::upgradeByCommand);
                    while (!isDone(upgrade)) {
                        assertEcho(longOne);
                    }

                    assertEquals("", upgrade.join());
                    assertEcho(longOne); // it was not ended at the hand-over, and is once it is silent
                    assertEquals(End.Kind.FIN, longOne.readToEnd(BOUND).kind());
                }
                long before = pid;
                pid = pid();
                assertNotEquals(before, pid);
                started.add(pid);
                awaitEnd(before);
            }
            assertAllServed(loop);
            endAll();
            System.out.println("upgrades=" + times + " served=" + loop.served() + " refused=0 reset=0");
        }
    }

    /** Nobody is served before a check has found the endpoint up. */
    private static String refusingBeforeItsChecks(String yaml) {
        return yaml.replace(
                "{name: back, endpoints",
                "{name: back, health: {type: tcp, initial: down, rise: 1}, panic: {mode: refuse}, endpoints");
    }

    @Test
    @Tag("slow")
    void whatOperatorsChangedIsInForceAfterwardsAndTheSocketFilesStay() throws Exception {
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(echo.address(), echo.address()))
                        .start()) {
            AdminCurl curl = new AdminCurl(admin());
            curl.call("PUT", "/v1/backends/back/endpoints/a/weight", "{\"weight\": 5}")
                    .expect(200);
            Path handOver = admin().resolveSibling("admin.sock.handover");
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(handOver)));

            assertEquals("", upgradeByCommand());
            started.add(pid());

            awaitEnd(tidegate.pid());
            assertEquals(5, curl.endpoint("a").at("/weight/effective").asInt(), curl.endpoint("a")::toString);
            Await.until("it can be upgraded again", BOUND, () -> Files.exists(handOver, LinkOption.NOFOLLOW_LINKS));
            endAll();
        }
    }

    /** The next one knows of an endpoint that it is well only after as many checks as it takes; until then this one serves. */
    @Test
    @Tag("slow")
    void whileTheOtherServesEndpointsAreWaitedForUntilTheyAreUp() throws Exception {
        try (OpenLoop loop = OpenLoop.start();
                ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                refusingBeforeItsChecks(yaml(loop.endpoint(), echo.address()))
                                        .replace("rise: 1", "rise: 2, interval: 4s, fast-interval: 4s"))
                        .start()) {
            AdminCurl curl = new AdminCurl(admin());
            Await.until(
                    "it has passed twice",
                    BOUND,
                    () -> curl.endpoint("a").get("pickable").asBoolean());
            loop.arrive(new InetSocketAddress(InetAddress.getLoopbackAddress(), tidegate.port()), 300);

            assertEquals("", upgradeByCommand());

            started.add(pid());
            awaitEnd(tidegate.pid());
            long enough = loop.served() + 300;
            Await.until(
                    "the next one serves",
                    BOUND,
                    () -> loop.served() >= enough || !loop.failures().isEmpty());
            assertAllServed(loop);
            endAll();
        }
    }

    @Test
    @Tag("slow")
    void anAdminSocketThatMovesIsFoundByTheNextProcess() throws Exception {
        Path other = directory.resolve("other.sock");
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(echo.address(), echo.address()))
                        .start()) {
            Path file = directory.resolve("tidegate.yaml");
            Files.writeString(file, Files.readString(file).replace(admin().toString(), other.toString()));

            long next = beginUpgrade();

            awaitEnd(tidegate.pid());
            assertEquals(
                    next, new AdminCurl(other).look("/v1/upgrade").get("pid").asLong());
            Await.until(
                    "the files of the one before are gone",
                    BOUND,
                    () -> !Files.exists(admin(), LinkOption.NOFOLLOW_LINKS)
                            && !Files.exists(directory.resolve("admin.sock.handover"), LinkOption.NOFOLLOW_LINKS));
            endAll();
        }
    }

    @Test
    @Tag("slow")
    void aReloadThatWasRefusedDuringAnUpgradeThatFailsIsMadeUpFor() throws Exception {
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(echo.address(), echo.address()).replace("warm-up: off", "warm-up: 2s"))
                        .start()) {
            AdminCurl curl = new AdminCurl(admin());
            long next = beginUpgrade();
            tidegate.awaitErr("take-over asked for");
            Path file = directory.resolve("tidegate.yaml");
            Files.writeString(file, Files.readString(file).replace("quiet: 2s", "quiet: 3s"));
            tidegate.signal("HUP");
            tidegate.awaitErr("another process is taking over, and has read what is in force");

            ProcessHandle.of(next).orElseThrow().destroyForcibly();

            tidegate.awaitErr(
                    "reads the configuration again: a reload was refused while another process was to take over");
            Await.equal(
                    "generation",
                    2L,
                    () -> curl.look("/v1/status").get("generation").asLong());
        }
    }

    /** Who has asked for it is told so, and does not wait for nobody. */
    @Test
    @Tag("slow")
    void whereBothProcessesHaveEndedTheCommandEnds() throws Exception {
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(echo.address(), echo.address())
                                        .replace("warm-up: off", "warm-up: 2s")
                                        .replace("lame-duck: 10s", "lame-duck: 0s"))
                        .start()) {
            StringWriter err = new StringWriter();
            CompletableFuture<Integer> upgrade = CompletableFuture.supplyAsync(() -> Main.execute(
                    new PrintWriter(new StringWriter(), true),
                    new PrintWriter(err, true),
                    "upgrade",
                    "--admin",
                    "unix:" + admin()));
            tidegate.awaitErr("take-over asked for");

            tidegate.signal("TERM");

            assertEquals(Exit.UNAVAILABLE, upgrade.get(BOUND.toSeconds(), TimeUnit.SECONDS));
            assertTrue(err.toString().contains("have both ended; the log has their words"), err::toString);
            assertEquals(0, tidegate.awaitExit());
        }
    }

    @Test
    @Tag("slow")
    void theFileOfAnAdminSocketThatIsNoMoreGoes() throws Exception {
        Path runtime = Files.createDirectory(directory.resolve("run"));
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(echo.address(), echo.address()))
                        .with("RUNTIME_DIRECTORY", runtime.toString())
                        .start()) {
            Path file = directory.resolve("tidegate.yaml");
            Path other = directory.resolve("other.sock");
            String second = "[\"unix:" + admin() + "\", \"unix:" + other + "\"]";
            Files.writeString(file, Files.readString(file).replace("\"unix:" + admin() + "\"", second));
            assertEquals("", upgradeByCommand());
            long between = pid();
            started.add(between);
            awaitEnd(tidegate.pid());
            assertTrue(Files.exists(other, LinkOption.NOFOLLOW_LINKS));

            Files.writeString(file, Files.readString(file).replace(second, "\"unix:" + admin() + "\""));
            assertEquals("", upgradeByCommand());
            started.add(pid());
            awaitEnd(between);

            Await.until("its file is gone", BOUND, () -> !Files.exists(other, LinkOption.NOFOLLOW_LINKS));
            assertTrue(Files.exists(admin(), LinkOption.NOFOLLOW_LINKS));
            endAll();
        }
    }

    @Test
    @Tag("slow")
    void aNextProcessWithABrokenConfigurationDisturbsNobody() throws Exception {
        try (OpenLoop loop = OpenLoop.start();
                ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(loop.endpoint(), echo.address()))
                        .start()) {
            loop.arrive(new InetSocketAddress(InetAddress.getLoopbackAddress(), tidegate.port()), 500);
            String good = Files.readString(directory.resolve("tidegate.yaml"));
            Files.writeString(directory.resolve("tidegate.yaml"), good.replace("backends:", "backend:"));

            String said = upgradeByCommand();

            assertTrue(said.contains("the upgrade failed, process " + tidegate.pid() + " goes on: "), said);
            assertTrue(said.contains("ended with exit code 78: the configuration is missing or invalid"), said);
            Files.writeString(
                    directory.resolve("tidegate.yaml"), good.replace("process: {", "process: {transport: nio, "));
            said = upgradeByCommand();
            assertTrue(said.contains("ended with exit code 1"), said);
            tidegate.awaitErr("process.transport nio takes no sockets over; use auto or epoll");
            try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                // It has the admin socket by then, whose file is not its own to remove.
                Files.writeString(
                        directory.resolve("tidegate.yaml"),
                        good.replace(
                                "listen: \"127.0.0.1:0\", backend: echo",
                                "listen: \"127.0.0.1:" + taken.getLocalPort() + "\", backend: echo"));
                said = upgradeByCommand();
            }
            assertTrue(said.contains("ended with exit code 1"), said);

            long enough = loop.served() + 500;
            Await.until(
                    "more are served",
                    BOUND,
                    () -> loop.served() >= enough || !loop.failures().isEmpty());
            assertEquals(List.of(), loop.failures());
            assertEquals(tidegate.pid(), pid());
            loop.arriveNoMore();
        }
    }

    /**
     * Of a main process that is not its child systemd sees no end, and kills it at once at a stop; of others it hears nothing;
     * and it kills those with the main one.
     */
    @Test
    @Tag("slow")
    void underAServiceManagerTheNextProcessIsItsChildAndStaysForTheOneBefore() throws Exception {
        try (NotifySocket manager = NotifySocket.inAbstract();
                ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(echo.address(), echo.address()).replace("lame-duck: 10s", "lame-duck: 0s"))
                        .with("NOTIFY_SOCKET", manager.address())
                        .start()) {
            manager.await("READY=1");
            try (ScriptedClient longOne = ScriptedClient.connect(longPort())) {
                assertEcho(longOne);
                assertEquals("", upgradeByCommand());
                long next = pid();
                started.add(next);
                manager.await("READY=1\nMAINPID=" + next);
                assertNotEquals(
                        tidegate.pid(),
                        ProcessHandle.of(next)
                                .orElseThrow()
                                .parent()
                                .orElseThrow()
                                .pid());
                assertEquals(1, manager.messages("STATUS=starting").size(), manager.messages()::toString);

                ProcessHandle.of(next).orElseThrow().destroy();
                manager.await("STATUS=draining 0 connections, ");
                CompletableFuture<?> ended =
                        ProcessHandle.of(next).orElseThrow().onExit();
                while (manager.messages().stream().noneMatch(each -> each.contains("; process " + tidegate.pid()))) {
                    assertEcho(longOne);
                }
                assertEcho(longOne);
                assertTrue(tidegate.isAlive());
                assertFalse(ended.isDone());
                assertEquals(End.Kind.FIN, longOne.readToEnd(BOUND).kind());
                awaitEnd(tidegate.pid());
                awaitEnd(next);
            }
        }
    }

    @Test
    @Tag("slow")
    void aStopWhileTheNextProcessStartsIsAStop() throws Exception {
        try (OpenLoop loop = OpenLoop.start();
                ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(loop.endpoint(), echo.address()).replace("warm-up: off", "warm-up: 2s"))
                        .start()) {
            loop.arrive(new InetSocketAddress(InetAddress.getLoopbackAddress(), tidegate.port()), 300);
            long next = beginUpgrade();
            tidegate.awaitErr("take-over asked for");

            tidegate.signal("TERM"); // a lame duck of 10 s begins

            awaitTurnedAway(tidegate, next);
            assertEquals(tidegate.pid(), pid());
            // Within the lame duck: nobody is lost who came while the next one had the sockets too.
            assertAllServed(loop);
            assertEquals(0, tidegate.awaitExit());
        }
    }

    /** What ends because it was asked to is no process that has died, whose place another would have to take. */
    @Test
    @Tag("slow")
    void aStopWithoutLameDuckIsNotTakenForADeath() throws Exception {
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(echo.address(), echo.address())
                                        .replace("warm-up: off", "warm-up: 2s")
                                        .replace("lame-duck: 10s", "lame-duck: 0s"))
                        .start()) {
            long next = beginUpgrade();
            tidegate.awaitErr("take-over asked for");

            tidegate.signal("TERM"); // there is no connection: it ends at once

            assertEquals(0, tidegate.awaitExit());
            awaitTurnedAway(tidegate, next);
            assertEquals(-1, pidOrNone());
        }
    }

    @Test
    @Tag("slow")
    void aStopOfTheNextProcessDisturbsNobody() throws Exception {
        try (OpenLoop loop = OpenLoop.start();
                ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(loop.endpoint(), echo.address()).replace("warm-up: off", "warm-up: 2s"))
                        .start()) {
            loop.arrive(new InetSocketAddress(InetAddress.getLoopbackAddress(), tidegate.port()), 300);
            AdminCurl curl = new AdminCurl(admin());
            long next = beginUpgrade();
            tidegate.awaitErr("take-over asked for");

            ProcessHandle.of(next).orElseThrow().destroy();

            awaitEnd(next);
            Await.equal(
                    "what came of it",
                    "process " + next + " ended with exit code 0; the log has its words",
                    () -> curl.look("/v1/upgrade").get("detail").asText());
            tidegate.awaitErr("asked to stop before it took over; the running process goes on");
            assertAllServed(loop);
            assertEquals(tidegate.pid(), pid());
        }
    }

    /** With process 1 of a container its other processes end. */
    @Test
    @Tag("slow")
    void processOneIsNotUpgraded() throws Exception {
        Requirement.met("root".equals(System.getProperty("user.name")), "a process namespace needs root");
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(echo.address(), echo.address()))
                        .before(List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"))
                        .start()) {
            String said = upgradeByCommand();

            assertTrue(said.contains("upgrades are not possible here: this is process 1 of its container"), said);
            assertTrue(tidegate.isAlive());
        }
    }

    @Test
    @Tag("slow")
    void theSecondOfTwoAtOnceIsRefused() throws Exception {
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(echo.address(), echo.address()))
                        .start()) {
            AdminCurl curl = new AdminCurl(admin());
            long next = beginUpgrade();

            AdminCurl.Answer second = curl.post("/v1/upgrade", null).expect(409);

            assertTrue(
                    second.body().contains("an upgrade is under way already, by process " + next + "; wait for it"),
                    second::toString);
            Await.until("the next one answers", BOUND, () -> pidOrNone() == next);
            awaitEnd(tidegate.pid());
            endAll();
        }
    }

    @Test
    @Tag("slow")
    void aSignalAsksForOneTooWhereTheJvmLeavesItFree() throws Exception {
        try (ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(echo.address(), echo.address()))
                        .with("_JAVA_SR_SIGNUM", "62")
                        .start()) {
            tidegate.signal("USR2");

            Await.until("another process answers", BOUND, () -> pidOrNone() > 0 && pidOrNone() != tidegate.pid());
            started.add(pid());
            awaitEnd(tidegate.pid());
            endAll();
        }
    }

    @Test
    @Tag("slow")
    void socketsFromSystemdGoFromProcessToProcess() throws Exception {
        try (PassedSockets passed = PassedSockets.open(
                        directory, "web=AF_INET,SOCK_STREAM,127.0.0.1", "web=AF_INET6,SOCK_STREAM,::1");
                ScriptedBackend echo = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(echo.address(), echo.address())
                                        .replace(
                                                "listen: \"127.0.0.1:0\", backend: back",
                                                "listen: \"systemd:web\", backend: back"))
                        .before(passed.starter())
                        .start()) {
            assertEquals("", upgradeByCommand());
            started.add(pid());
            awaitEnd(tidegate.pid());
            for (InetSocketAddress front : List.of(passed.at(0, "127.0.0.1"), passed.at(1, "::1"))) {
                try (ScriptedClient client = ScriptedClient.connect(front)) {
                    assertEcho(client);
                }
            }
            endAll();
        }
    }

    /** It ends, and does not take a stop for a death; where it waits for descriptors just then, it cannot hear the reason. */
    private static void awaitTurnedAway(TidegateProcess before, long next) {
        awaitEnd(next);
        before.awaitErr(": it was asked to stop meanwhile");
        Await.until(
                "the next one tells why it ends",
                BOUND,
                () -> before.err().stream()
                        .anyMatch(line -> line.startsWith(
                                        "tidegate: the running process refuses to hand over: it was asked")
                                || line.startsWith("tidegate: the running process has ended the hand-over before")));
        assertEquals(
                List.of(),
                before.err().stream()
                        .filter(line -> line.contains("this one serves") || line.contains("taken over sockets="))
                        .toList());
    }

    /** The process that is to take over. */
    private long beginUpgrade() {
        long next = new AdminCurl(admin())
                .post("/v1/upgrade", null)
                .expect(200)
                .json()
                .get("next")
                .asLong();
        started.add(next);
        return next;
    }

    private static void assertAllServed(OpenLoop loop) {
        loop.arriveNoMore();
        Await.until(
                "all are served",
                BOUND,
                () -> loop.served() == loop.opened() || !loop.failures().isEmpty());
        assertEquals(List.of(), loop.failures());
    }

    /** Looks for a moment. */
    private static boolean isDone(CompletableFuture<?> future) throws Exception {
        try {
            future.get(100, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException notYet) {
            return false;
        }
    }

    private static void awaitEnd(long pid) {
        Await.until(
                "the process before has ended",
                BOUND,
                () -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }

    private static void assertEcho(ScriptedClient client) throws IOException {
        client.send("hello");
        assertEquals("hello", client.readText(5));
    }

    /** What it says on stderr; empty when it worked. */
    private String upgradeByCommand() {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exit = Main.execute(
                new PrintWriter(out, true), new PrintWriter(err, true), "upgrade", "--admin", "unix:" + admin());
        assertEquals(exit == Exit.OK, err.toString().isEmpty(), err::toString);
        return err.toString();
    }

    private long pid() {
        return new AdminCurl(admin()).look("/v1/upgrade").get("pid").asLong();
    }

    private long pidOrNone() {
        try {
            return pid();
        } catch (AssertionError nobodyAnswers) {
            return -1;
        }
    }

    private Path admin() {
        return directory.resolve("admin.sock");
    }

    private InetSocketAddress longPort() {
        String bound = new AdminCurl(admin())
                .look("/v1/frontends/long")
                .at("/listeners/0/bound")
                .asText();
        return new InetSocketAddress(
                InetAddress.getLoopbackAddress(), Integer.parseInt(bound.substring(bound.lastIndexOf(':') + 1)));
    }

    private String yaml(InetSocketAddress endpoint, InetSocketAddress echo) {
        return """
                process: {warm-up: off, shutdown: {deadline: 20s, spread: 1s, lame-duck: 10s}}
                admin: {listen: "unix:%s"}
                log: {access: {path: none}}
                frontends:
                  - {name: front, listen: "127.0.0.1:0", backend: back}
                  - {name: long, listen: "127.0.0.1:0", backend: echo, lifetime: {quiet: 2s}}
                backends:
                  - {name: back, endpoints: [{name: a, address: "127.0.0.1:%d"}]}
                  - {name: echo, endpoints: [{name: a, address: "127.0.0.1:%d"}]}
                """.formatted(admin(), endpoint.getPort(), echo.getPort());
    }
}
