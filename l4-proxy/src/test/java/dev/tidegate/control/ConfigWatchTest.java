package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.LeakGuard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real files that change, and a clock in the test's hand. */
class ConfigWatchTest {
    private static final Duration QUIET = ConfigWatch.QUIET;

    @TempDir
    Path directory;

    private long nanos = Long.MAX_VALUE - 1; // wraps at once
    private ConfigWatch watch;

    @BeforeEach
    void make() throws IOException {
        write("tidegate.yaml", "include: conf.d/*.yaml\n");
        Files.createDirectory(directory.resolve("conf.d"));
        write("conf.d/a.yaml", "a");
        watch = watch("tidegate.yaml");
    }

    @AfterEach
    void close() {
        watch.close();
    }

    private ConfigWatch watch(String main) {
        return new ConfigWatch(directory.resolve(main), name -> null, () -> nanos);
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(directory.resolve(name), text);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
    }

    /** It is told of after the quiet time, once, and not before. */
    private void assertToldOf(String what) {
        assertFalse(watch.look(), what + " is told of at once");
        pass(QUIET.minusNanos(1));
        assertFalse(watch.look(), what + " is told of too soon");
        pass(Duration.ofNanos(1));
        assertTrue(watch.look(), what + " is not told of");
        pass(QUIET);
        assertFalse(watch.look(), what + " is told of twice");
    }

    private void assertNotToldOf(String what) {
        for (int i = 0; i < 3; i++) {
            assertFalse(watch.look(), what + " is told of");
            pass(QUIET);
        }
    }

    @Test
    void nothingIsToldWhileNothingChanges() {
        assertNotToldOf("nothing");
    }

    @Test
    void everyWayToChangeAFileIsToldOf() throws IOException {
        write("tidegate.yaml", "include: conf.d/*.yaml # more\n");
        assertToldOf("another text");
        write("new", "include: conf.d/*.yaml # mure\n");
        Files.setLastModifiedTime(
                directory.resolve("new"), Files.getLastModifiedTime(directory.resolve("tidegate.yaml")));
        Files.move(directory.resolve("new"), directory.resolve("tidegate.yaml"), StandardCopyOption.REPLACE_EXISTING);
        assertToldOf("a rename of a file of one size and time");
        Files.setLastModifiedTime(directory.resolve("tidegate.yaml"), FileTime.fromMillis(1_000));
        assertToldOf("another time");
        Files.delete(directory.resolve("tidegate.yaml"));
        assertToldOf("a deletion");
        write("tidegate.yaml", "include: conf.d/*.yaml\n");
        assertToldOf("a file that is back");
    }

    @Test
    void includedFilesThatChangeComeAndGoAreToldOf() throws IOException {
        write("conf.d/a.yaml", "another");
        assertToldOf("a change");
        write("conf.d/b.yaml", "b");
        assertToldOf("a file that came");
        Files.delete(directory.resolve("conf.d/a.yaml"));
        assertToldOf("a file that went");
        write("conf.d/.b.yaml.swp", "x");
        write("conf.d/notes.txt", "x");
        write("other.yaml", "x");
        assertNotToldOf("a file that is not included");
    }

    @Test
    void whatIsIncludedFollowsTheMainFile() throws IOException {
        write("tidegate.yaml", "include: other.yaml\n");
        assertToldOf("another include");
        write("conf.d/a.yaml", "no longer included");
        assertNotToldOf("a file that is not included any more");
        write("other.yaml", "x");
        assertToldOf("a file that is included by name");
    }

    @Test
    void whileTheMainFileCannotBeReadItsIncludesAreWatchedOn() throws IOException {
        write("tidegate.yaml", "include: [conf.d/*");
        assertToldOf("a broken file");
        write("conf.d/a.yaml", "another");
        assertToldOf("a change of what it included");
    }

    @Test
    void severalChangesInARowAreOne() throws IOException {
        for (int i = 0; i < 5; i++) {
            write("conf.d/a.yaml", "x".repeat(i + 2));
            assertFalse(watch.look());
            pass(QUIET.minusMillis(1));
        }
        assertFalse(watch.look());
        pass(Duration.ofMillis(1));
        assertTrue(watch.look());
        assertFalse(watch.look());
    }

    @Test
    void aChangeThatIsTakenBackIsToldOfSinceItMayHaveBeenRead() throws IOException {
        Path file = directory.resolve("conf.d/a.yaml");
        FileTime before = Files.getLastModifiedTime(file);
        write("conf.d/a.yaml", "longer");
        assertFalse(watch.look());
        write("conf.d/a.yaml", "a");
        Files.setLastModifiedTime(file, before);
        assertToldOf("a change and its end");
    }

    /** A volume of Kubernetes: the files are links over {@code ..data}, a link to a directory that is swapped whole. */
    @Test
    void aSwapOfALinkAboveTheFilesIsToldOf() throws IOException {
        Path mount = Files.createDirectory(directory.resolve("mount"));
        version(mount, "..v1");
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..v1"));
        Files.createSymbolicLink(mount.resolve("tidegate.yaml"), Path.of("..data/tidegate.yaml"));
        Files.createSymbolicLink(mount.resolve("part.yaml"), Path.of("..data/part.yaml"));
        watch.close();
        watch = watch("mount/tidegate.yaml");
        assertNotToldOf("nothing");

        version(mount, "..v2");
        assertNotToldOf("a version that is not in force");
        Files.createSymbolicLink(mount.resolve("..data_tmp"), Path.of("..v2"));
        Files.move(mount.resolve("..data_tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        assertToldOf("the swap");
    }

    private static void version(Path mount, String name) throws IOException {
        Path version = Files.createDirectory(mount.resolve(name));
        for (String file : new String[] {"tidegate.yaml", "part.yaml"}) {
            Files.writeString(version.resolve(file), "include: part*.yaml\n");
            Files.setLastModifiedTime(version.resolve(file), FileTime.fromMillis(1_000)); // as its size, the same
        }
    }

    @Test
    @Tag("slow")
    void onceStartedItLooksByItselfAndGoesOnAfterAFault() throws Exception {
        LeakGuard.installed().expect("a look at the configuration failed.*");
        AtomicInteger told = new AtomicInteger();
        try (ConfigWatch real = new ConfigWatch(directory.resolve("tidegate.yaml"), name -> null, System::nanoTime)) {
            real.start(() -> {
                if (told.incrementAndGet() == 1) {
                    throw new IllegalStateException("on purpose");
                }
            });
            write("conf.d/a.yaml", "another");
            Await.until("the first change is told of", () -> told.get() == 1);
            write("conf.d/a.yaml", "yet another");
            Await.until("the second change is told of", () -> told.get() == 2);
        }
        assertEquals(2, told.get());
    }
}
