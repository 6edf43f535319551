package dev.tidegate.telemetry;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidegate.testkit.LeakGuard;
import dev.tidegate.testkit.Requirement;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nothing is lost but what is counted, whatever the disk or the reader does. */
final class AccessLogTest {
    private static final Duration BOUND = Duration.ofSeconds(20);

    private final FloodLog floods = new FloodLog(System::nanoTime);
    private final LogLines warnings = new LogLines(FloodLog.class);
    private AccessLog log;
    private long sequence;

    @TempDir
    Path directory;

    @BeforeEach
    void start() {
        floods.start();
    }

    @AfterEach
    void stop() {
        log.close();
        floods.close();
        warnings.close();
    }

    private AccessLog open(AccessLogTarget target, int capacity) throws IOException {
        log = AccessLog.open(target, AccessLogFormat.JSON, capacity, InstantSource.system(), floods);
        return log;
    }

    private AccessLog open(LogSink sink, int capacity) {
        log = new AccessLog("fragile", sink, AccessLogFormat.JSON, capacity, InstantSource.system(), floods);
        return log;
    }

    private void offer(int records) {
        for (int i = 0; i < records; i++) {
            log.offer(Records.usual(0, sequence++));
        }
    }

    /** Offers more than the ring can hold, which would never come back if a worker had to wait. */
    private void overflow(int capacity) {
        offer(3 * capacity);
        await().atMost(BOUND).until(() -> log.dropped() > 0);
    }

    /** The ids of whole lines; fails on a line that is none. */
    private static List<String> ids(String text) throws IOException {
        assertTrue(text.isEmpty() || text.endsWith("\n"), "a torn last line");
        ObjectMapper mapper = new ObjectMapper();
        List<String> ids = new ArrayList<>();
        for (String line : text.lines().toList()) {
            JsonNode json = mapper.readTree(line);
            ids.add(json.get("id").textValue());
        }
        return ids;
    }

    private static void assertNoneTwice(List<String> ids) {
        assertEquals(ids.size(), Set.copyOf(ids).size());
    }

    private boolean warned(String text) {
        return warnings.messages().stream().anyMatch(line -> line.contains(text));
    }

    @Test
    @Tag("slow")
    void everyRecordOfManyWorkersIsWrittenOrCounted() throws IOException, InterruptedException {
        Path file = directory.resolve("access.log");
        open(new AccessLogTarget.File(file), AccessLog.CAPACITY);
        ExecutorService workers = Executors.newFixedThreadPool(4);
        for (int w = 0; w < 4; w++) {
            int worker = w;
            workers.execute(() -> {
                for (int i = 0; i < 25_000; i++) {
                    log.offer(Records.usual(worker, i));
                }
            });
        }
        workers.shutdown();
        assertTrue(workers.awaitTermination(60, TimeUnit.SECONDS));
        log.close();

        List<String> ids = ids(Files.readString(file));
        assertEquals(100_000, log.written() + log.dropped());
        assertEquals(log.written(), ids.size());
        assertNoneTwice(ids);
    }

    @Test
    void linesAppearSoonAndTheFileIsNotForAll() throws IOException {
        Path file = directory.resolve("access.log");
        open(new AccessLogTarget.File(file), 16);

        offer(1);

        await().atMost(BOUND).until(() -> log.written() == 1);
        assertEquals(List.of("0-0"), ids(Files.readString(file)));
        assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }

    @Test
    void aFileThatIsThereIsAppendedTo() throws IOException {
        Path file = Files.writeString(directory.resolve("access.log"), "before\n");
        open(new AccessLogTarget.File(file), 16);
        offer(1);

        log.close();

        assertTrue(Files.readString(file).startsWith("before\n{"));
    }

    @Test
    void aLineThatAnEarlierProcessLeftUnfinishedIsNotGluedToTheNext() throws IOException {
        Path file = Files.writeString(directory.resolve("access.log"), "{\"time\":\"20");
        open(new AccessLogTarget.File(file), 16);
        offer(1);

        log.close();

        assertTrue(Files.readString(file).startsWith("{\"time\":\"20\n{"));
    }

    @Test
    void aFileThatCannotBeOpenedIsSaidAtTheStart() throws IOException {
        open(new AccessLogTarget.None(), 16);
        Path file = directory.resolve("missing/access.log");

        IOException refused = assertThrows(
                IOException.class,
                () -> AccessLog.open(
                        new AccessLogTarget.File(file), AccessLogFormat.JSON, 16, InstantSource.system(), floods));

        assertEquals(
                "access log \"" + file + "\" cannot be opened for appending: its directory does not exist; create it,"
                        + " or choose another path",
                refused.getMessage());
    }

    @Test
    void aDirectoryInPlaceOfTheFileIsSaidAtTheStart() throws IOException {
        open(new AccessLogTarget.None(), 16);

        IOException refused = assertThrows(
                IOException.class,
                () -> AccessLog.open(
                        new AccessLogTarget.File(directory), AccessLogFormat.JSON, 16, InstantSource.system(), floods));

        assertTrue(refused.getMessage().contains(directory + "\" cannot be opened"), refused.getMessage());
    }

    @Test
    void withoutATargetNothingIsTakenAndNothingDropped() throws IOException {
        open(new AccessLogTarget.None(), 16);

        offer(100);

        assertFalse(log.isOn());
        assertEquals(0, log.dropped());
    }

    @Test
    void writingGoesOnInTheMiddleOfALineWhereItStopped() throws IOException {
        FragileSink sink = new FragileSink(700); // one line and a half
        open(sink, 16);
        offer(8);
        await().atMost(BOUND).until(() -> sink.refusals() >= 2);
        assertEquals(1, log.written());
        overflow(16);

        sink.room(Integer.MAX_VALUE);
        await().atMost(BOUND).until(() -> log.written() + log.dropped() == sequence);

        List<String> ids = ids(sink.text());
        assertEquals(log.written(), ids.size());
        assertEquals(List.of("0-0", "0-1"), ids.subList(0, 2));
        assertNoneTwice(ids);
        assertTrue(
                warned("access log cannot be written, will try again log=fragile error=\"No space left on device\""));
        assertTrue(warned("access log lines dropped log=fragile"));
    }

    @Test
    void whatCannotBeWrittenAtTheEndIsCounted() {
        FragileSink sink = new FragileSink(700);
        open(sink, 16);
        offer(8);
        await().atMost(BOUND).until(() -> sink.refusals() >= 1);

        log.close();

        assertEquals(1, log.written());
        assertEquals(7, log.dropped());
        offer(1);
        assertEquals(8, log.dropped());
    }

    @Test
    void warningsAboutAFullDiskComeOnceASecond() {
        FragileSink sink = new FragileSink(0);
        open(sink, 16);
        long start = System.nanoTime();
        overflow(16);
        await().atMost(BOUND).until(() -> {
            offer(1000);
            return sink.refusals() >= 4;
        });
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);

        long drops = warnings.messages().stream()
                .filter(line -> line.startsWith("access log lines dropped"))
                .count();
        assertTrue(drops >= 1 && drops <= seconds + 2, drops + " lines in " + seconds + " s");
    }

    @Test
    @Tag("slow")
    void aFullDiskCostsLinesThatAreCountedAndWritingResumesWhenThereIsSpace() throws IOException, InterruptedException {
        Path mount = Files.createDirectory(directory.resolve("small"));
        Requirement.met(
                run("mount", "-t", "tmpfs", "-o", "size=256k", "tidegate-test", mount.toString()),
                "needs the right to mount");
        try {
            Path ballast = mount.resolve("ballast");
            open(new AccessLogTarget.File(mount.resolve("access.log")), 64);
            Files.write(ballast, new byte[240 * 1024]);
            await().atMost(BOUND).until(() -> {
                offer(100);
                return warned("No space left on device") && log.dropped() > 0;
            });

            Files.delete(ballast);
            long writtenWhenFull = log.written();
            await().atMost(BOUND).until(() -> log.written() > writtenWhenFull);
            log.close();

            List<String> ids = ids(Files.readString(mount.resolve("access.log")));
            assertEquals(sequence, log.written() + log.dropped());
            assertEquals(log.written(), ids.size());
            assertNoneTwice(ids);
        } finally {
            log.close();
            assertTrue(run("umount", mount.toString()));
        }
    }

    @Test
    void aReaderThatSleepsCostsLinesThatAreCountedAndTheEndIsBounded() throws IOException, InterruptedException {
        Path pipe = directory.resolve("pipe");
        assertTrue(run("mkfifo", pipe.toString()));
        try (RandomAccessFile reader = new RandomAccessFile(pipe.toFile(), "rw")) {
            open(new AccessLogTarget.File(pipe), 64);
            await().atMost(BOUND).until(() -> {
                offer(100);
                return log.dropped() > 0;
            });

            long start = System.nanoTime();
            log.close();
            Duration took = Duration.ofNanos(System.nanoTime() - start);

            assertTrue(took.compareTo(Duration.ofSeconds(5)) < 0, took.toString());
            // The reader wakes up: what was under way comes whole.
            assertTrue(reader.readLine().startsWith("{\"time\":"));
        }
    }

    @Test
    void aReaderThatWakesUpGetsTheRest() throws IOException, InterruptedException {
        Path pipe = directory.resolve("pipe");
        assertTrue(run("mkfifo", pipe.toString()));
        try (RandomAccessFile reader = new RandomAccessFile(pipe.toFile(), "rw")) {
            open(new AccessLogTarget.File(pipe), 64);
            await().atMost(BOUND).until(() -> {
                offer(100);
                return log.dropped() > 0;
            });
            long offered = sequence;

            Set<String> ids = new HashSet<>();
            while (ids.size() + log.dropped() < offered) {
                ids.addAll(ids(reader.readLine() + "\n"));
            }

            await().atMost(BOUND).until(() -> log.written() + log.dropped() == offered);
            assertEquals(log.written(), ids.size());
        }
    }

    @Test
    void aRotationUnderLoadLosesAndSplitsNothing() throws IOException, InterruptedException {
        Path file = directory.resolve("access.log");
        open(new AccessLogTarget.File(file), AccessLog.CAPACITY);
        Thread worker = new Thread(() -> offer(60_000));
        worker.start();
        for (int i = 0; i < 10; i++) {
            await().atMost(BOUND).pollInterval(Duration.ofMillis(2)).until(() -> Files.exists(file));
            Files.move(file, directory.resolve("access.log." + i), StandardCopyOption.ATOMIC_MOVE);
            log.reopen();
        }
        worker.join();
        await().atMost(BOUND).until(() -> Files.exists(file));
        log.close();

        List<String> ids = new ArrayList<>();
        try (var files = Files.list(directory)) {
            for (Path each : files.toList()) {
                ids.addAll(ids(Files.readString(each)));
            }
        }
        assertEquals(60_000, log.written() + log.dropped());
        assertEquals(log.written(), ids.size());
        assertNoneTwice(ids);
    }

    @Test
    void aFileThatCannotBeOpenedAnewGoesOnAsItWas() throws IOException {
        Path home = Files.createDirectory(directory.resolve("logs"));
        Path file = home.resolve("access.log");
        Path moved = directory.resolve("moved");
        open(new AccessLogTarget.File(file), 64);
        offer(1);
        await().atMost(BOUND).until(() -> log.written() == 1);
        Files.move(home, moved);

        log.reopen();
        await().atMost(BOUND).until(() -> warned("error=\"java.nio.file.NoSuchFileException: " + file));
        offer(1);
        await().atMost(BOUND).until(() -> log.written() == 2);
        Files.createDirectory(home);
        await().atMost(BOUND).until(() -> Files.exists(file));
        offer(1);
        await().atMost(BOUND).until(() -> log.written() == 3);

        assertEquals(List.of("0-0", "0-1"), ids(Files.readString(moved.resolve("access.log"))));
        assertEquals(List.of("0-2"), ids(Files.readString(file)));
    }

    @Test
    void aSinkWithAFaultCostsCountedLinesAndNotTheThread() throws IOException {
        LeakGuard.installed().expect("internal error where=access log.*");
        FragileSink sink = new FragileSink(Integer.MAX_VALUE);
        sink.failOnce(new IllegalStateException("odd"));
        open(sink, 64);
        offer(20);
        await().atMost(BOUND).until(() -> log.written() + log.dropped() == 20);
        offer(1);
        await().atMost(BOUND).until(() -> log.written() + log.dropped() == 21);

        assertTrue(warned("internal error where=access log"));
        assertTrue(sink.text().contains("\"id\":\"0-20\""));
        assertEquals(log.written(), sink.text().lines().count());
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    }
}
