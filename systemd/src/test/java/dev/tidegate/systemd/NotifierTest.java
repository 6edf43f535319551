package dev.tidegate.systemd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.NotifySocket;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NotifierTest {
    @TempDir
    Path directory;

    private static Notifier on(String address) {
        return Notifier.of(Map.of("NOTIFY_SOCKET", address)::get);
    }

    private NotifySocket manager(String kind) {
        return kind.equals("abstract") ? NotifySocket.inAbstract() : NotifySocket.at(directory.resolve("notify"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"path", "abstract"})
    void everyMessageArrivesInItsForm(String kind) {
        try (NotifySocket manager = manager(kind);
                Notifier notifier = on(manager.address())) {
            assertTrue(notifier.active());
            notifier.extendTimeout(Duration.ofSeconds(20));
            notifier.ready("serving", 4711);
            notifier.watchdog();
            notifier.reloading("reading", 123_456_789L);
            notifier.ready("serving\nagain");
            notifier.status("12 of 14 up");
            notifier.mainPid(42);
            notifier.stopping("draining");
            manager.await("STOPPING=1");

            assertEquals(
                    List.of(
                            "EXTEND_TIMEOUT_USEC=20000000",
                            "READY=1\nMAINPID=4711\nSTATUS=serving",
                            "WATCHDOG=1",
                            "RELOADING=1\nMONOTONIC_USEC=123456789\nSTATUS=reading",
                            "READY=1\nSTATUS=serving again",
                            "STATUS=12 of 14 up",
                            "MAINPID=42",
                            "STOPPING=1\nSTATUS=draining"),
                    manager.messages());
        }
    }

    @Test
    void withoutASocketNobodyIsTold() {
        try (Notifier notifier = Notifier.of(name -> null)) {
            assertFalse(notifier.active());
            notifier.ready("serving");
            notifier.watchdog();
        }
    }

    @Test
    void aSocketThatIsNotThereIsNamedOnce() {
        Path nowhere = directory.resolve("nowhere");
        try (LogLines lines = new LogLines();
                Notifier notifier = on(nowhere.toString())) {
            notifier.status("one");
            notifier.ready("two");
            Await.equal(
                    "the log",
                    List.of("WARN systemd cannot be told now, tried again until it can: there is no " + nowhere),
                    lines::all);
        }
    }

    @Test
    void anAddressOfAnotherKindIsOneWarning() {
        try (LogLines lines = new LogLines()) {
            for (String address : List.of("vsock:2:1234", "/", "/" + "x".repeat(120))) {
                try (Notifier notifier = on(address)) {
                    assertFalse(notifier.active(), address);
                }
            }
            assertEquals(3, lines.all().size(), lines.all()::toString);
            assertTrue(lines.all().get(0).startsWith("WARN NOTIFY_SOCKET: \"vsock:2:1234\" is neither"));
        }
    }

    /** The kernel's queue is short, and nobody looks. */
    @Test
    void aFullSocketHoldsNobodyUpAndLosesNoState() {
        try (NotifySocket manager = manager("path");
                Notifier notifier = on(manager.address());
                LogLines lines = new LogLines()) {
            for (int i = 0; i < 40; i++) {
                notifier.mainPid(i);
            }
            Await.until("it is noticed", () -> !lines.all().isEmpty());
            for (int i = 0; i < 1_000; i++) {
                notifier.status("number " + i);
            }
            notifier.ready("at last");
            manager.await("READY=1");

            List<String> all = manager.messages();
            assertEquals(
                    40, all.stream().filter(each -> each.startsWith("MAINPID=")).count());
            assertEquals(
                    1, all.stream().filter(each -> each.startsWith("STATUS=")).count(), all::toString);
            assertEquals("STATUS=number 999", all.get(40));
            assertEquals("READY=1\nSTATUS=at last", all.get(41));
            assertTrue(lines.all().get(0).contains("its socket is full"), lines.all()::toString);
        }
    }

    @Test
    void whatNobodyTakesIsKeptUntilSomebodyDoes() {
        Path path = directory.resolve("notify");
        try (Notifier notifier = on(path.toString());
                LogLines lines = new LogLines()) {
            notifier.ready("serving");
            Await.until("it is noticed", () -> !lines.all().isEmpty());
            try (NotifySocket manager = NotifySocket.at(path)) {
                assertEquals("READY=1\nSTATUS=serving", manager.await("READY=1"));
            }
            Await.equal("lines", 2, () -> lines.all().size());
        }
    }

    @Test
    void closingSendsWhatWasSaidBefore() {
        try (NotifySocket manager = manager("path")) {
            Notifier notifier = on(manager.address());
            notifier.stopping("stopped");
            notifier.close();
            assertEquals(List.of("STOPPING=1\nSTATUS=stopped"), manager.messages());

            notifier.status("more");
            notifier.close();
            assertEquals(1, manager.messages().size());
        }
    }

    /** With Netty's library in a directory that may not be executed from, for one. */
    @Test
    void withoutTheNativeLibraryTheToolIsAsked() throws IOException {
        Path said = directory.resolve("said");
        Path tool = script("systemd-notify", "for each in \"$@\"; do printf '[%s]' \"$each\"; done >> " + said);
        try (LogLines lines = new LogLines();
                Notifier notifier = Notifier.over(() -> Notifier.wire(
                        "/nowhere", new UnsatisfiedLinkError("failed to map segment"), Optional.of(tool)))) {
            notifier.ready("serving 3 listeners");
            Await.equal("what the tool was told", "[READY=1][STATUS=serving 3 listeners]", () -> read(said));

            assertEquals(1, lines.all().size());
            String line = lines.all().get(0);
            assertTrue(
                    line.contains("NotifyAccess=all")
                            && line.contains("failed to map segment")
                            && line.contains("java.io.tmpdir"),
                    line);
        }
    }

    @Test
    void withoutTheToolTooThereIsOneWarning() {
        try (LogLines lines = new LogLines()) {
            try (Notifier notifier =
                    Notifier.over(() -> Notifier.wire("/nowhere", new UnsatisfiedLinkError("no"), Optional.empty()))) {
                notifier.ready("serving");
                notifier.status("serving");
            }
            assertEquals(1, lines.all().size(), lines.all()::toString);
            assertTrue(lines.all().get(0).startsWith("WARN systemd is told nothing"));
        }
    }

    @Test
    void aToolThatHangsIsGivenUp() throws IOException {
        Path tool = script("systemd-notify", "exec sleep 600");
        IOException failed = assertThrows(
                IOException.class, () -> new ToolWire(tool.toString(), Duration.ofMillis(50)).trySend("READY=1"));
        assertTrue(failed.getMessage().contains("did not end within"), failed::getMessage);
        assertThrows(
                IOException.class,
                () -> new ToolWire(script("failing", "exit 1").toString(), Duration.ofSeconds(30)).trySend("READY=1"));
    }

    /** What MONOTONIC_USEC is to be: systemd compares it with its own look at CLOCK_MONOTONIC. */
    @Test
    void theJvmsMonotonicTimeIsTheKernels() throws Exception {
        long beforeMicros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime());
        Process perl = new ProcessBuilder(
                        "perl",
                        "-MTime::HiRes=clock_gettime,CLOCK_MONOTONIC",
                        "-e",
                        "printf '%d', 1e6 * clock_gettime(CLOCK_MONOTONIC)")
                .redirectErrorStream(true)
                .start();
        String said = new String(perl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        long afterMicros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime());

        long micros = Long.parseLong(said);
        // A floating-point number in between has lost less than a microsecond.
        assertTrue(beforeMicros - 1 <= micros && micros <= afterMicros + 1, () -> beforeMicros + " " + said);
    }

    private Path script(String name, String line) throws IOException {
        Path file = Files.writeString(directory.resolve(name), "#!/bin/sh\n" + line + "\n");
        assertTrue(file.toFile().setExecutable(true));
        return file;
    }

    private static String read(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
