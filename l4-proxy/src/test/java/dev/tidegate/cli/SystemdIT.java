package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.NotifySocket;
import dev.tidegate.testkit.Requirement;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code tidegate run} tells a service manager. */
@Tag("slow")
class SystemdIT {
    private static final String COLD = "process: {warm-up: off}\n";

    @TempDir
    Path directory;

    private final ScriptedBackend backend = ScriptedBackend.echo();

    private String yaml(String more) {
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

    private TidegateProcess.Setup under(NotifySocket manager, String yaml) throws IOException {
        return TidegateProcess.run(directory, yaml).with("NOTIFY_SOCKET", manager.address());
    }

    /** Starts it and waits until it has said that it is ready. */
    private TidegateProcess ready(NotifySocket manager, String yaml) throws IOException {
        TidegateProcess tidegate = under(manager, yaml).start();
        manager.await("READY=1");
        return tidegate;
    }

    private static void assertEchoes(ScriptedClient client) throws IOException {
        client.send("ping");
        assertEquals("ping", client.readText(4));
    }

    /** Each RELOADING is followed by READY before the next; the last word is READY. */
    private static int reloads(NotifySocket manager) {
        boolean open = false;
        int reloads = 0;
        for (String message : manager.messages()) {
            if (message.startsWith("RELOADING=1\n")) {
                assertFalse(open, () -> "a reload within a reload: " + manager.messages());
                open = true;
            } else if (message.startsWith("READY=1\n") && open) {
                open = false;
                reloads++;
            }
        }
        return reloads;
    }

    /** systemd/systemd#37515 and ergochat/ergo#2454: a start or reload that does not say so hangs, and is killed in the end. */
    @ParameterizedTest
    @ValueSource(strings = {"path", "abstract"})
    void readyIsSaidOnceConnectionsAreServed(String kind) throws Exception {
        try (NotifySocket manager =
                        kind.equals("path") ? NotifySocket.at(directory.resolve("notify")) : NotifySocket.inAbstract();
                TidegateProcess tidegate = under(manager, yaml(COLD)).startOnly()) {
            String ready = manager.await("READY=1");
            assertEquals("serving 1 listener, 1 of 1 endpoint up", NotifySocket.value(ready, "STATUS"));
            assertEquals(Long.toString(tidegate.pid()), NotifySocket.value(ready, "MAINPID"));
            try (ScriptedClient client = tidegate.connect()) {
                assertEchoes(client);
            }
            assertTrue(manager.messages().get(0).equals("STATUS=starting"), manager.messages()::toString);
            assertTrue(manager.messages().get(1).startsWith("EXTEND_TIMEOUT_USEC="), manager.messages()::toString);

            tidegate.signal("TERM");
            assertEquals(0, tidegate.awaitExit());
            assertEquals(1, manager.messages("STOPPING=1").size(), manager.messages()::toString);
        }
    }

    @Test
    void whatCannotStartIsNeverReady() throws Exception {
        try (NotifySocket manager = NotifySocket.inAbstract();
                ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            try (TidegateProcess bad =
                    under(manager, yaml(COLD + "nonsense: 1\n")).startOnly()) {
                assertEquals(78, bad.awaitExit());
            }
            String inUse = yaml(COLD).replace("127.0.0.1:0", "127.0.0.1:" + taken.getLocalPort());
            try (TidegateProcess late = under(manager, inUse).startOnly()) {
                assertEquals(1, late.awaitExit());
            }
            assertEquals(List.of(), manager.messages("READY=1"));
        }
    }

    /** Ready is what knows of its endpoints: with checks, that takes until the first of them is over. */
    @Test
    void readyWaitsForTheFirstChecksAndTheStatusFollowsThem() throws Exception {
        String checked = yaml(COLD).replace("name: back,", "name: back, health: {type: tcp, interval: 200ms},")
                + "  - {name: gone, health: {type: tcp, interval: 200ms}, endpoints: [{address: \"127.0.0.1:1\"}]}\n";
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate = ready(manager, checked)) {
            assertEquals(
                    "serving 1 listener, 1 of 2 endpoints up",
                    NotifySocket.value(manager.await("READY=1"), "STATUS"),
                    () -> tidegate.err().toString());
            backend.close();
            manager.await("STATUS=serving 1 listener, 0 of 2 endpoints up");
        }
    }

    /** spring-projects/spring-boot#4378 and atris/JDBC_FDW#18: HUP ended the JVM, or nothing came of it. */
    @Test
    void everyHupIsAnnouncedAndEndsInReady() throws Exception {
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate = ready(manager, yaml(COLD));
                ScriptedClient client = tidegate.connect()) {
            write(yaml("process: {warm-up: off, shutdown: {deadline: 1m}}\n"));
            long beforeMicros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime());
            int seen = manager.messages().size();
            tidegate.signal("HUP");
            long micros = Long.parseLong(NotifySocket.value(manager.await("RELOADING=1", seen), "MONOTONIC_USEC"));
            // What systemd holds it to: its own look at that clock, before it sent the signal.
            assertTrue(
                    beforeMicros <= micros && micros <= TimeUnit.NANOSECONDS.toMicros(System.nanoTime()),
                    () -> beforeMicros + " " + micros);
            Await.equal("reloads", 1, () -> reloads(manager));
            tidegate.awaitErr("reload applied gen=2");

            write("nothing: good\n");
            tidegate.signal("HUP");
            Await.equal("reloads", 2, () -> reloads(manager));
            manager.await("; the last reload was rejected, see the log");

            write(yaml("process: {warm-up: off, shutdown: {deadline: 1m}}\n"));
            int rejected = manager.messages().size();
            tidegate.signal("HUP");
            Await.equal("reloads", 3, () -> reloads(manager));
            tidegate.awaitErr("reload: nothing to change");
            assertEquals(
                    "serving 1 listener, 1 of 1 endpoint up",
                    NotifySocket.value(manager.await("READY=1", rejected), "STATUS"));
            assertEchoes(client);
        }
    }

    /** The same cases: signals that come during a reload merge into one more, and during a drain they are reloads as well. */
    @Test
    void hupsInARowAndDuringADrainAreReloadsThatEndInReady() throws Exception {
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate =
                        ready(manager, yaml(COLD + "admin: {listen: \"unix:" + directory.resolve("admin") + "\"}\n"));
                ScriptedClient client = tidegate.connect()) {
            assertEchoes(client);
            new AdminCurl(directory.resolve("admin"))
                    .post("/v1/backends/back/endpoints/e/drain", "{}")
                    .expect(202);
            for (int i = 0; i < 5; i++) {
                tidegate.signal("HUP");
            }
            Await.until("a reload", () -> reloads(manager) >= 1);
            write(yaml(COLD + "log: {level: debug}\nadmin: {listen: \"unix:" + directory.resolve("admin") + "\"}\n"));
            tidegate.signal("HUP");
            tidegate.awaitErr("reload applied gen=3");
            Await.until("the last is over", () -> {
                List<String> all = manager.messages();
                return all.get(all.size() - 1).startsWith("READY=1\n") && reloads(manager) <= 6;
            });
            assertEchoes(client);
        }
    }

    @Test
    void reloadsByTheAdminApiAndByWatchingAreAnnouncedToo() throws Exception {
        String admin = COLD + "admin: {listen: \"unix:" + directory.resolve("admin") + "\"}\n";
        write(yaml(admin));
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate = TidegateProcess.with(
                                "run",
                                "--watch",
                                "--config",
                                directory.resolve("tidegate.yaml").toString())
                        .with("NOTIFY_SOCKET", manager.address())
                        .with("STATE_DIRECTORY", directory.resolve("state").toString())
                        .start()) {
            manager.await("READY=1");
            new AdminCurl(directory.resolve("admin")).post("/v1/reload", "{}").expect(200);
            Await.equal("reloads", 1, () -> reloads(manager));
            write(yaml(admin + "log: {level: warn}\n"));
            Await.equal("reloads", 2, () -> reloads(manager));
            assertTrue(tidegate.isAlive());
        }
    }

    /** Icinga/icinga2#3440 and flux-framework/flux-core#6661: killed by a time-out in the middle of an orderly end. */
    @Test
    void aLongStopTellsHowItGoesAndAsksForTime() throws Exception {
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate = ready(
                        manager,
                        yaml("process: {warm-up: off, shutdown: {deadline: 60s, spread: 60s, lame-duck: 2s}}\n"));
                ScriptedClient client = tidegate.connect()) {
            assertEchoes(client);
            tidegate.signal("TERM");
            String stopping = manager.await("STOPPING=1");
            assertTrue(stopping.contains("STATUS=lame duck: accepts for "), stopping);
            assertTrue(stopping.endsWith(", 1 connection"), stopping);
            manager.await("STATUS=draining 1 connection, ");
            int from = manager.messages().indexOf(stopping);
            Await.until(
                    "three pleas for time",
                    () -> manager.messages().stream()
                                    .skip(from)
                                    .filter("EXTEND_TIMEOUT_USEC=20000000"::equals)
                                    .count()
                            >= 3);

            tidegate.signal("HUP");
            tidegate.awaitErr("reload ignored: the process is stopping");
            // cloudamqp/amqproxy#74: a second signal ends it at once. collectd/collectd#4391: and that is no failure.
            tidegate.signal("TERM");
            assertEquals(0, tidegate.awaitExit(Duration.ofSeconds(10)));
            List<String> afterwards =
                    manager.messages().subList(from + 1, manager.messages().size());
            assertTrue(
                    afterwards.stream().noneMatch(each -> each.startsWith("READY") || each.startsWith("RELOADING")),
                    afterwards::toString);
        }
    }

    @Test
    void signsOfLifeComeWhileAllTurnAndEndWhenAWorkerIsStuck() throws Exception {
        Path wedge = directory.resolve("wedge");
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate = under(manager, yaml("process: {warm-up: off, workers: 2}\n"))
                        .with("WATCHDOG_USEC", "1000000")
                        .main(WedgedMain.class)
                        .jvm("-Dwedge.when=" + wedge)
                        .start()) {
            Await.until("signs of life", () -> manager.messages("WATCHDOG=1").size() >= 4);

            Files.createFile(wedge);
            tidegate.awaitErr("stuck, no sign of life for the watchdog while it lasts: worker 0 took no turn");
            int signs = manager.messages("WATCHDOG=1").size();
            assertFalse(
                    Await.tryUntil(
                            Duration.ofMillis(1_500),
                            () -> manager.messages("WATCHDOG=1").size() > signs),
                    manager.messages()::toString);
            assertEquals(
                    1,
                    tidegate.err().stream()
                            .filter(line -> line.contains("stuck"))
                            .count());
        }
    }

    /** A suspended machine, a frozen container. */
    @Test
    void aProcessThatStoodStillGivesASignOfLifeAsSoonAsItWakes() throws Exception {
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate = under(manager, yaml(COLD))
                        .with("WATCHDOG_USEC", "1000000")
                        .start()) {
            Await.until("signs of life", () -> manager.messages("WATCHDOG=1").size() >= 2);
            tidegate.signal("STOP");
            int before = manager.messages("WATCHDOG=1").size();
            assertFalse(Await.tryUntil(
                    Duration.ofMillis(1_500),
                    () -> manager.messages("WATCHDOG=1").size() > before + 1));
            tidegate.signal("CONT");
            Await.until("it goes on", () -> manager.messages("WATCHDOG=1").size() >= before + 4);
            assertTrue(tidegate.err().stream().noneMatch(line -> line.contains("stuck")), tidegate.err()::toString);
        }
    }

    @Test
    void withoutTheNativeLibraryTheToolTellsInItsPlace() throws Exception {
        Requirement.met(
                Files.isExecutable(Path.of("/usr/bin/systemd-notify")), "needs systemd-notify (Debian: systemd)");
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate = under(manager, yaml(COLD))
                        .with("PATH", "/usr/bin:/bin")
                        .jvm("-Dio.netty.transport.noNative=true")
                        .start()) {
            assertTrue(manager.await("READY=1").contains("serving 1 listener"));
            assertTrue(tidegate.awaitErr("systemd is told by /usr/bin/systemd-notify")
                    .contains("NotifyAccess=all"));
        }
    }

    @Test
    void aManagerThatReadsNothingHoldsNothingUp() throws Exception {
        try (NotifySocket manager = NotifySocket.inAbstract();
                TidegateProcess tidegate = under(manager, yaml(COLD))
                        .with("WATCHDOG_USEC", "100000")
                        .start()) {
            tidegate.awaitErr("systemd cannot be told now, tried again until it can: its socket is full");
            try (ScriptedClient client = tidegate.connect()) {
                assertEchoes(client);
            }
            tidegate.signal("HUP");
            tidegate.awaitErr("reload: nothing to change");
            tidegate.signal("TERM");
            assertEquals(0, tidegate.awaitExit());
        }
    }

    @AfterEach
    void end() {
        backend.close();
    }
}
