package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tidegate.testkit.LeakGuard;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Runtime state over restarts, whatever happens to the disk. */
class StateStoreTest {
    private static final RuntimeState FULL = StateFormatTest.FULL;
    private static final RuntimeState OTHER = RuntimeState.EMPTY.withBackendDraining("web", true);
    private static final Optional<String> DURABLE = Optional.empty();

    @TempDir
    Path base;

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        logger().addAppender(log);
    }

    @AfterEach
    void listenNoMore() {
        logger().detachAppender(log);
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger(StateStore.class);
    }

    /** What was logged at WARN and above, before the last answer that was waited for. */
    private List<String> warnings() {
        return log.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    private Path directory() {
        return base.resolve("made/state");
    }

    private Path file() {
        return directory().resolve("runtime.json");
    }

    private StateStore open() {
        return StateStore.open(new StateDirectory(Optional.of(directory()), "the test"));
    }

    private static Optional<String> result(CompletableFuture<Optional<String>> saved) throws Exception {
        return saved.get(20, TimeUnit.SECONDS);
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory())) {
            return files.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    private RuntimeState load() {
        try (StateStore store = open()) {
            return store.load();
        }
    }

    /** A file that was there before. */
    private void put(byte[] text) throws IOException {
        Files.createDirectories(directory());
        Files.write(file(), text);
    }

    // ---- when all goes well

    @Test
    void whatWasSavedIsLoadedByTheNext() throws Exception {
        try (StateStore store = open()) {
            assertEquals(RuntimeState.EMPTY, store.load());
            assertEquals(DURABLE, result(store.save(OTHER)));
            assertEquals(DURABLE, result(store.save(FULL)));
        }
        assertEquals(FULL, load());
        assertEquals(List.of("runtime.json"), names());
        assertEquals(List.of(), warnings());
    }

    @Test
    void directoryAndFileAreForTheirOwnerAlone() throws Exception {
        try (StateStore store = open()) {
            assertEquals(Optional.of(file()), store.path());
            assertEquals(DURABLE, result(store.save(FULL)));
        }
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(directory())));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
    }

    @Test
    void aCloseWritesWhatWaits() throws Exception {
        List<CompletableFuture<Optional<String>>> saved = new ArrayList<>();
        try (StateStore store = open()) {
            for (int i = 0; i < 50; i++) {
                saved.add(store.save(i == 49 ? FULL : OTHER));
            }
        }
        for (CompletableFuture<Optional<String>> each : saved) {
            assertEquals(DURABLE, result(each));
        }
        assertEquals(FULL, load());
    }

    @Test
    void aSaveAfterTheCloseSaysSo() throws Exception {
        StateStore store = open();
        store.close();
        assertEquals(Optional.of("the process has stopped"), result(store.save(FULL)));
        assertFalse(Files.exists(file()));
    }

    // ---- the newest wins

    @Test
    void whileOneIsWrittenOnlyTheNewestOfThoseThatWaitIsWrittenAfterIt() throws Exception {
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        List<RuntimeState> written = new ArrayList<>();
        try (StateStore store = StateStore.writingTo(text -> {
            writing.countDown();
            await(goOn);
            written.add(decode(text));
        })) {
            var first = store.save(RuntimeState.EMPTY);
            await(writing);
            var second = store.save(OTHER);
            var third = store.save(FULL);
            assertFalse(first.isDone() || second.isDone() || third.isDone());
            goOn.countDown();
            for (var each : List.of(first, second, third)) {
                assertEquals(DURABLE, result(each));
            }
        }
        assertEquals(List.of(RuntimeState.EMPTY, FULL), written);
    }

    private static RuntimeState decode(byte[] text) throws IOException {
        try {
            return StateFormat.decode(text);
        } catch (StateFormat.Unreadable e) {
            throw new IOException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- files that cannot be read

    @Test
    void noTornFileStopsAStartAndEachIsKeptAside() throws Exception {
        byte[] text = StateFormat.encode(FULL);
        for (int length = 0; length < text.length; length += length < 200 ? 1 : 37) {
            byte[] torn = Arrays.copyOf(text, length);
            put(torn);
            assertEquals(RuntimeState.EMPTY, load());
            assertEquals(List.of("runtime.json.bad"), names());
            assertTrue(Arrays.equals(torn, Files.readAllBytes(directory().resolve("runtime.json.bad"))));
        }
    }

    @Test
    void aBadFileIsOneLineThatSaysWhatAndWhere() throws Exception {
        put("{\"format\":9}".getBytes(StandardCharsets.UTF_8));
        assertEquals(RuntimeState.EMPTY, load());
        assertEquals(
                List.of("runtime state is lost: " + file()
                        + " has format 9, this version reads format 1; the file is kept" + " as " + file() + ".bad"),
                warnings());
    }

    @Test
    void afterABadFileSavingWorks() throws Exception {
        put(new byte[] {1, 2, 3});
        try (StateStore store = open()) {
            assertEquals(RuntimeState.EMPTY, store.load());
            assertEquals(DURABLE, result(store.save(FULL)));
        }
        assertEquals(FULL, load());
    }

    @Test
    void aFileTooLargeToBeOursIsNotRead() throws Exception {
        put(new byte[StateFormat.BYTES_MAX + 1]);
        assertEquals(RuntimeState.EMPTY, load());
        assertTrue(warnings().get(0).contains("is larger than"), warnings().toString());
    }

    @Test
    void whatIsNoRegularFileIsNotOpened() throws Exception {
        Files.createDirectories(file().resolve("something"));
        assertEquals(RuntimeState.EMPTY, load());
        assertEquals(List.of("runtime.json.bad"), names());
        Files.createSymbolicLink(file(), base.resolve("nowhere"));
        assertEquals(RuntimeState.EMPTY, load());
        assertEquals(2, warnings().size());
        // The second cannot take the place of the first, which is not empty, and that stops nothing either.
        assertTrue(
                warnings().get(0).contains("is no regular file; the file is kept as"),
                warnings().toString());
        assertTrue(
                warnings().get(1).contains("cannot be kept aside"), warnings().toString());
    }

    // ---- a process that is killed

    @Test
    void killedBetweenWritingAndRenamingTheOldStateStands() throws Exception {
        try (StateStore store = open()) {
            assertEquals(DURABLE, result(store.save(OTHER)));
        }
        StateFile killed = new StateFile(directory());
        Path temporary = killed.writeBeside(StateFormat.encode(FULL));
        assertTrue(Files.exists(temporary));

        assertEquals(OTHER, load());
        assertEquals(List.of("runtime.json"), names());
    }

    @Test
    void killedRightAfterRenamingTheNewStateStands() throws Exception {
        try (StateStore store = open()) {
            assertEquals(DURABLE, result(store.save(OTHER)));
        }
        StateFile killed = new StateFile(directory());
        killed.putInPlace(killed.writeBeside(StateFormat.encode(FULL)));
        assertEquals(FULL, load());
    }

    // ---- disks that cannot be written

    @Test
    void aDirectoryThatCannotBeIsOneLineAndTheProcessGoesOn() throws Exception {
        Files.write(base.resolve("made"), new byte[0]); // a file where a directory should be
        try (StateStore store = open()) {
            assertEquals(RuntimeState.EMPTY, store.load());
            assertEquals(1, warnings().size(), warnings().toString());
            assertTrue(
                    warnings().get(0).startsWith("runtime state is not kept over a restart: " + base),
                    warnings().toString());
            String failure = result(store.save(FULL)).orElseThrow();
            assertTrue(failure.contains(base.resolve("made").toString()), failure);
            assertEquals(Optional.of(failure), result(store.save(OTHER)));
            assertEquals(2, warnings().size(), "a kind of failure is told of once: " + warnings());

            Files.delete(base.resolve("made"));
            assertEquals(DURABLE, result(store.save(FULL)), "it is tried again each time");
        }
        assertEquals(FULL, load());
    }

    @Test
    void withoutADirectoryEverySaveFailsAndSaysWhy() throws Exception {
        try (StateStore store = StateStore.open(new StateDirectory(Optional.empty(), "HOME is not set"))) {
            assertEquals(List.of("runtime state is not kept over a restart: HOME is not set"), warnings());
            assertEquals(RuntimeState.EMPTY, store.load());
            assertEquals(Optional.empty(), store.path());
            assertEquals(Optional.of("there is no state directory: HOME is not set"), result(store.save(FULL)));
        }
    }

    @Test
    void aWriteThatFailsLeavesTheOldStateAndNothingBesideIt() throws Exception {
        Files.createDirectories(file().resolve("in the way")); // a rename onto it fails
        StateFile blocked = new StateFile(directory());
        assertThrows(IOException.class, () -> blocked.write(StateFormat.encode(FULL)));
        assertEquals(List.of("runtime.json"), names());
    }

    /** A full disk says nothing but that. */
    @Test
    void aFailureNamesTheFile() throws Exception {
        StateFile file = new StateFile(directory());
        try (StateStore store = StateStore.writingTo(Optional.of(file), text -> {
            throw new IOException("No space left on device");
        })) {
            assertEquals(Optional.of(file.path() + ": No space left on device"), result(store.save(FULL)));
        }
        assertEquals(
                List.of("runtime state cannot be written, a restart would lose it: " + file.path()
                        + ": No space left on device"),
                warnings());
    }

    @Test
    void eachKindOfFailureIsToldOfOnceUntilAWriteWorks() throws Exception {
        LeakGuard.installed().expect("runtime state cannot be written by a fault of our own.*");
        List<String> script = new ArrayList<>(List.of("full", "full", "gone", "full", "ok", "full", "fault", "fault"));
        try (StateStore store = StateStore.writingTo(text -> {
            String next = script.remove(0);
            if (next.equals("fault")) {
                throw new IllegalStateException("on purpose");
            }
            if (!next.equals("ok")) {
                throw new IOException("disk " + next);
            }
        })) {
            List<Optional<String>> results = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                results.add(result(store.save(FULL)));
            }
            assertEquals(Optional.of("disk full"), results.get(1));
            assertEquals(Optional.of("disk gone"), results.get(2));
            assertEquals(DURABLE, results.get(4));
            assertEquals(Optional.of("internal error: on purpose"), results.get(6));
        }
        String line = "runtime state cannot be written, a restart would lose it: disk ";
        assertEquals(
                List.of(
                        line + "full",
                        line + "gone",
                        line + "full",
                        "runtime state cannot be written by a fault of our own"),
                warnings());
        assertTrue(log.list.stream().anyMatch(event -> event.getMessage().equals("runtime state is written again")));
    }
}
