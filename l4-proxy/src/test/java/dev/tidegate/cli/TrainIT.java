package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.RepositoryFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code packaging/train} on an installation as a package has it, and the launcher that starts from what it made. */
@Tag("slow")
class TrainIT {
    private static final long BOUND_SECONDS = 180;
    private static final String JAVA = System.getProperty("java.home");
    private static final String ARCHIVE =
            "tidegate-" + Runtime.version().feature() + (Runtime.version().feature() >= 25 ? ".aot" : ".jsa");

    @TempDir
    Path directory;

    private Path root;

    private record Run(int exitCode, List<String> out, List<String> err) {}

    @BeforeEach
    void install() throws IOException {
        root = Files.createDirectory(directory.resolve("root"));
        Path bin = Files.createDirectory(root.resolve("bin"));
        Path lib = Files.createDirectory(root.resolve("lib"));
        copy(RepositoryFiles.root().resolve("bin/tidegate"), bin);
        Path target = RepositoryFiles.root().resolve("l4-proxy/target");
        try (Stream<Path> own = Files.list(target);
                Stream<Path> others = Files.list(target.resolve("lib"))) {
            for (Path jar : Stream.concat(
                            own.filter(file -> file.getFileName()
                                    .toString()
                                    .matches("tidegate-l4-proxy-[0-9.]+(-SNAPSHOT)?\\.jar")),
                            others)
                    .toList()) {
                copy(jar, lib);
            }
        }
    }

    private static void copy(Path file, Path into) throws IOException {
        Files.copy(file, into.resolve(file.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
    }

    @Test
    void itLeavesAnArchiveBesideTheJarsFromWhichTheLauncherStarts() throws Exception {
        Run trained = train(Map.of());

        assertEquals(0, trained.exitCode(), trained.err()::toString);
        assertEquals(List.of("train: " + root.resolve("lib").resolve(ARCHIVE)), trained.out());
        assertEquals(List.of(), trained.err());
        assertTrue(version().contains("source: shared objects file"), "loaded from elsewhere: " + version());
    }

    /** It does not fit any more: Java says nothing of it, and starts as if there were none. */
    @Test
    void anArchiveOfOtherJarsIsLeftAsideWithoutAWord() throws Exception {
        Files.writeString(root.resolve("lib").resolve(ARCHIVE), "no archive at all");

        Run run = run(Map.of(), root.resolve("bin/tidegate").toString(), "version");

        assertEquals(0, run.exitCode());
        assertEquals(List.of(), run.err());
        assertEquals(1, run.out().size(), run.out()::toString);
    }

    @Test
    void whereTheJarsAreReadOnlyItGoesToTheCacheOfTheService() throws Exception {
        Path cache = Files.createDirectory(directory.resolve("cache"));

        Run trained = readOnly(Map.of("CACHE_DIRECTORY", cache.toString()));

        assertEquals(0, trained.exitCode(), trained.err()::toString);
        assertTrue(Files.isRegularFile(cache.resolve(ARCHIVE)));
    }

    @Test
    void whereNothingCanBeWrittenOneLineSaysSo() throws Exception {
        Run trained = readOnly(Map.of());

        assertEquals(1, trained.exitCode());
        assertEquals(1, trained.err().size(), trained.err()::toString);
        assertTrue(
                trained.err().get(0).startsWith("train: no archive: neither " + root.resolve("lib")),
                trained.err().get(0));
    }

    @Test
    void aJavaThatIsNotThereIsNamedInOneLine() throws Exception {
        Run trained = run(
                Map.of(), RepositoryFiles.root().resolve("packaging/train").toString(), root.toString(), "/none/java");

        assertEquals(1, trained.exitCode());
        assertEquals(1, trained.err().size(), trained.err()::toString);
        assertEquals(
                "train: no archive: there is no Java at /none/java",
                trained.err().get(0));
    }

    private Run train(Map<String, String> environment) throws Exception {
        return run(
                environment, RepositoryFiles.root().resolve("packaging/train").toString(), root.toString(), JAVA);
    }

    private Run readOnly(Map<String, String> environment) throws Exception {
        return run(
                environment,
                "unshare",
                "-rm",
                "sh",
                "-c",
                "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && exec \"$2\" \"$1\" \"$3\"",
                "sh",
                root.toString(),
                RepositoryFiles.root().resolve("packaging/train").toString(),
                JAVA);
    }

    /** Where the class that answers is loaded from. */
    private String version() throws Exception {
        Run run = run(
                Map.of("TIDEGATE_JAVA_OPTS", "-Xlog:class+load:stdout"),
                root.resolve("bin/tidegate").toString(),
                "version");
        assertEquals(0, run.exitCode(), run.err()::toString);
        return run.out().stream()
                .filter(line -> line.contains(" dev.tidegate.cli.Main source:"))
                .findFirst()
                .orElseThrow();
    }

    private Run run(Map<String, String> environment, String... command) throws Exception {
        Path out = Files.createTempFile(directory, "out", "");
        Path err = Files.createTempFile(directory, "err", "");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeAll(List.of("CACHE_DIRECTORY", "STATE_DIRECTORY", "TIDEGATE_JAVA_OPTS"));
        builder.environment().put("JAVA_HOME", JAVA);
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new AssertionError(List.of(command) + " did not end within " + BOUND_SECONDS + " s");
        }
        return new Run(process.exitValue(), lines(out), lines(err));
    }

    private static List<String> lines(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.UTF_8).lines().toList();
    }
}
