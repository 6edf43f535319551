package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Classes of {@code tidegate run} as they are once loaded, from which the processes of tests start with half the CPU. Made by a
 * training run as {@code packaging/train} does it, once for all JVMs that test the same jars. Any thread.
 */
final class ClassArchive {
    private static final Path DIRECTORY = Path.of("target", "class-archive").toAbsolutePath();

    /** One that does not fit (another class path, a clock that jumps) is left aside without a word. */
    private static final List<String> SILENT = List.of("-Xlog:disable", "-Xlog:all=warning,cds*=off:stderr");

    private static List<String> options = List.of(); // guarded by the class; empty while there is none

    private ClassArchive() {}

    /** Options of a JVM that starts from it. */
    static synchronized List<String> options() throws IOException {
        if (options.isEmpty()) {
            List<String> all = new ArrayList<>(SILENT);
            all.add("-XX:SharedArchiveFile=" + archive());
            options = List.copyOf(all);
        }
        return options;
    }

    private static Path archive() throws IOException {
        Path archive = DIRECTORY.resolve(Integer.toHexString(whatItIsOf().hashCode()) + ".jsa");
        Files.createDirectories(DIRECTORY);
        try (FileChannel channel = FileChannel.open(
                        DIRECTORY.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (lock.isValid() && !Files.exists(archive)) {
                deleteOthers();
                train(archive);
            }
        }
        return archive;
    }

    /** It holds for one Java and for jars of that path, size and time. */
    private static List<String> whatItIsOf() throws IOException {
        List<String> all = new ArrayList<>(List.of(System.getProperty("java.home"), Runtime.version() + ""));
        for (String entry : TidegateProcess.classPath().split(File.pathSeparator, -1)) {
            Path jar = Path.of(entry);
            all.add(jar + " " + Files.size(jar) + " " + Files.getLastModifiedTime(jar));
        }
        return all;
    }

    /** Of jars that have changed since. */
    private static void deleteOthers() throws IOException {
        try (Stream<Path> old = Files.list(DIRECTORY)) {
            for (Path file :
                    old.filter(each -> each.toString().endsWith(".jsa")).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void train(Path archive) throws IOException {
        Path config = Files.writeString(DIRECTORY.resolve("training.yaml"), """
                process: {workers: 2, warm-up: 500ms, shutdown: {deadline: 1s, spread: 0s}}
                log: {access: {path: none}}
                admin: {listen: "127.0.0.1:0"}
                frontends: [{name: training, listen: "127.0.0.1:0", backend: none}]
                backends: [{name: none, endpoints: [{address: "127.0.0.1:9"}]}]
                """);
        Path made = DIRECTORY.resolve("training.archive");
        try (TidegateProcess training = TidegateProcess.with("run", "--config", config.toString())
                .withoutArchive()
                .jvm("-XX:ArchiveClassesAtExit=" + made, "-Xlog:disable")
                .start()) {
            training.signal("TERM");
            assertEquals(0, training.awaitExit(), () -> training.err().toString());
        }
        Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
    }
}
