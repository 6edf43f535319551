package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code bin/tidegate} with a Java and a Maven that only write down what they were asked. */
class LauncherTest {
    private static final long TIMEOUT_SECONDS = 20;

    @TempDir
    private Path temp;

    private Path home;
    private Path javaHome;

    @BeforeEach
    void makeTree() throws IOException {
        home = Files.createDirectories(temp.resolve("home"));
        Path script = repository().resolve("bin/tidegate");
        Files.createDirectories(home.resolve("bin"));
        Files.copy(script, home.resolve("bin/tidegate"), StandardCopyOption.COPY_ATTRIBUTES);
        javaHome = temp.resolve("jdk");
        program(javaHome.resolve("bin/java"), "echo pid $$; for argument; do echo \"$argument\"; done");
        release("17.0.15");
    }

    @Test
    void installedPackageRunsFromTheLibBesideBin() throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));
        jar(home.resolve("lib/agrona.jar"));
        jar(home.resolve("lib/Upper.jar"));
        Run run = run("run", "--config", "a b.yaml");
        assertEquals(0, run.exitCode, run.stderr);
        List<String> lines = run.stdout.lines().toList();
        assertEquals("pid " + run.pid, lines.get(0), "the started process becomes the JVM");
        int classpath = lines.indexOf("-cp");
        assertEquals(
                List.of(
                        Stream.of("Upper.jar", "agrona.jar", "tidegate-l4-proxy-0.1.0.jar")
                                .map(name -> path(home) + "/lib/" + name)
                                .collect(Collectors.joining(":")),
                        "dev.tidegate.cli.Main",
                        "run",
                        "--config",
                        "a b.yaml"),
                lines.subList(classpath + 1, lines.size()));
        assertTrue(lines.contains("-XX:+ExitOnOutOfMemoryError"), run.stdout);
        assertFalse(run.stdout.contains("--enable-native-access"), run.stdout);
    }

    /** It had those of a command that only asks, which is compiled by C1 alone: everything is faster than that. */
    @Test
    void whatIsPutBesideTidegateHasTheFlagsThatItRunsWith() throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));

        List<String> flags = TidegateLauncher.in(home).flags();

        assertTrue(flags.contains("-XX:+ExitOnOutOfMemoryError"), flags::toString);
        assertFalse(flags.contains("-XX:TieredStopAtLevel=1"), flags::toString);
        assertTrue(run("version").stdout.contains("-XX:TieredStopAtLevel=1\n"), "the other kind of command");
    }

    /** So that they win over what the user has set for all. */
    @Test
    void flagsOfOneRowStandBehindThoseOfAll() throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));
        TidegateLauncher launcher = TidegateLauncher.in(home);

        List<String> command = launcher.sameJvm(List.of("-Dx=row"), "Main", "--listen", "0");

        assertEquals(launcher.java(), command.get(0));
        int end = command.indexOf("-cp");
        assertEquals(launcher.flags(), command.subList(1, end - 1));
        assertEquals("-Dx=row", command.get(end - 1));
        assertEquals(List.of("Main", "--listen", "0"), command.subList(end + 2, command.size()));
    }

    @Test
    void linkOnThePathLeadsToThePackage() throws Exception {
        jar(home.resolve("share/tidegate/lib/tidegate-l4-proxy-0.1.0.jar"));
        Path link = Files.createDirectories(temp.resolve("usr/bin")).resolve("tidegate");
        Files.createSymbolicLink(link, home.resolve("bin/tidegate"));
        Run run = run(link, List.of("version"), "TIDEGATE_JAVA_OPTS", "");
        assertEquals(0, run.exitCode, run.stderr);
        assertTrue(
                run.stdout.contains("\n" + home.toRealPath() + "/share/tidegate/lib/tidegate-l4-proxy-0.1.0.jar\n"),
                run.stdout);
    }

    @Test
    void optionsOfTheUserComeAfterOursAndSoWin() throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));
        Run run = run(home.resolve("bin/tidegate"), List.of("version"), "TIDEGATE_JAVA_OPTS", "-Xmx1g  -Dx=*");
        List<String> lines = run.stdout.lines().toList();
        assertTrue(lines.indexOf("-Xmx1g") > lines.indexOf("-Xmx512m"), run.stdout);
        assertTrue(lines.indexOf("-Dx=*") < lines.indexOf("-cp"), run.stdout);
    }

    @Test
    void newerJdkIsToldThatNativesAndDirectBuffersAreMeant() throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));
        release("25.0.3");
        Run run = run("version");
        assertTrue(run.stdout.contains("--enable-native-access=ALL-UNNAMED\n"), run.stdout);
        assertTrue(run.stdout.contains("--sun-misc-unsafe-memory-access=allow\n"), run.stdout);
    }

    @ParameterizedTest
    @CsvSource({
        "17.0.15, tidegate-17.jsa, -XX:SharedArchiveFile=",
        "21.0.2, tidegate-21.jsa, -XX:SharedArchiveFile=",
        "25.0.3, tidegate-25.aot, -XX:AOTCache="
    })
    void anArchiveBesideTheJarsIsTakenByTheJavaThatItIsOf(String version, String name, String option) throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));
        release(version);
        for (String other : List.of("tidegate-11.jsa", "tidegate-17.aot", "tidegate-25.jsa")) {
            Files.writeString(home.resolve("lib").resolve(other), "of another Java");
        }
        assertFalse(run("version").stdout.contains(option), "without one of its own");

        Files.writeString(home.resolve("lib").resolve(name), "archive");
        Run run = run("version");

        List<String> lines = run.stdout.lines().toList();
        int archive = lines.indexOf(option + path(home) + "/lib/" + name);
        assertTrue(archive > 0 && archive < lines.indexOf("-cp"), run.stdout);
        // To say so is an error where there is such a cache, and to say it is not needed where there is an archive.
        assertTrue(lines.stream().noneMatch(line -> line.startsWith("-Xshare")), run.stdout);
        assertTrue(
                lines.stream().anyMatch(line -> line.startsWith("-Xlog:all=warning,") && line.contains("cds*=off")),
                "one that does not fit is no news");
    }

    @Test
    void anArchiveInTheCacheOfTheServiceIsTakenWhereThereIsNoneBesideTheJars() throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));
        Path cache = Files.createDirectories(temp.resolve("cache"));
        Files.writeString(cache.resolve("tidegate-17.jsa"), "archive");

        Run run = run(home.resolve("bin/tidegate"), List.of("version"), "CACHE_DIRECTORY", cache + ":/elsewhere");

        assertTrue(run.stdout.contains("-XX:SharedArchiveFile=" + cache + "/tidegate-17.jsa\n"), run.stdout);
    }

    @Test
    void whichArchiveIsTakenCanBeSaid() throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));
        Files.writeString(home.resolve("lib/tidegate-17.jsa"), "archive");
        Path launcher = home.resolve("bin/tidegate");

        Run off = run(launcher, List.of("version"), "TIDEGATE_ARCHIVE", "off");
        Run another = run(launcher, List.of("version"), "TIDEGATE_ARCHIVE", "/some/where.jsa");

        assertFalse(off.stdout.contains("SharedArchiveFile"), off.stdout);
        assertTrue(another.stdout.contains("-XX:SharedArchiveFile=/some/where.jsa\n"), another.stdout);
    }

    @Test
    void olderJavaIsRefusedInOneLine() throws Exception {
        jar(home.resolve("lib/tidegate-l4-proxy-0.1.0.jar"));
        release("11.0.2");
        Run run = run("version");
        assertEquals(1, run.exitCode);
        assertEquals("", run.stdout);
        assertEquals(1, run.stderr.lines().count(), run.stderr);
        assertTrue(run.stderr.contains("is Java 11.0.2; Java 17 or later is needed"), run.stderr);
    }

    @Test
    void emptyPackageIsNamed() throws Exception {
        Run run = run("version");
        assertEquals(1, run.exitCode);
        assertTrue(run.stderr.contains("no tidegate-l4-proxy jar in " + home.toRealPath() + "/lib"), run.stderr);
    }

    @Test
    void sourceTreeIsBuiltOnceAndAgainWhenASourceIsNewer() throws Exception {
        Path source = sourceTree();
        Run first = run("version");
        assertEquals(0, first.exitCode, first.stderr);
        assertTrue(first.stderr.contains("building in " + home.toRealPath()), first.stderr);
        assertFalse(first.stdout.contains("noise"), "what Maven says stays away from stdout");
        assertFalse(first.stderr.contains("noise"), "and from stderr when all is well");

        assertEquals("", run("version").stderr, "nothing to build the second time");

        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
        assertTrue(run("version").stderr.contains("building"), "a newer source is built");
        assertEquals(2, Files.readAllLines(temp.resolve("mvn.calls")).size());
    }

    @Test
    void failedBuildShowsWhatMavenSaidAndStartsNothing() throws Exception {
        sourceTree();
        program(temp.resolve("path/mvn"), "echo noise: it does not compile; exit 1");
        Run run = run("version");
        assertEquals(1, run.exitCode);
        assertEquals("", run.stdout);
        assertTrue(run.stderr.contains("noise: it does not compile"), run.stderr);
        assertTrue(run.stderr.contains("the build in " + home.toRealPath() + " failed"), run.stderr);
    }

    @Test
    void aMeasurementIsAScriptOfTheSourceTree() throws Exception {
        program(home.resolve("bench/sim"), "echo sim \"$@\"");
        Run run = run("bench", "sim", "--seeds", "2");
        assertEquals(0, run.exitCode, run.stderr);
        assertEquals("sim --seeds 2\n", run.stdout);

        Run unknown = run("bench", "../bin/tidegate");
        assertEquals(2, unknown.exitCode);
        assertTrue(unknown.stderr.contains("is no measurement; there are compare,"), unknown.stderr);

        Run packaged = run("bench", "capacity");
        assertEquals(1, packaged.exitCode);
        assertTrue(packaged.stderr.contains("bench is part of the source tree"), packaged.stderr);
    }

    private static String path(Path directory) {
        try {
            return directory.toRealPath().toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path sourceTree() throws IOException {
        Files.writeString(home.resolve("pom.xml"), "<project/>");
        for (String module : List.of("health", "admin-api", "systemd", "l4-proxy")) {
            Files.createDirectories(home.resolve(module).resolve("src/main"));
            Files.writeString(home.resolve(module).resolve("pom.xml"), "<project/>");
        }
        Path source = Files.writeString(home.resolve("l4-proxy/src/main/Main.java"), "class Main {}");
        program(
                temp.resolve("path/mvn"),
                "echo noise; echo \"$@\" >> '" + temp + "/mvn.calls'; mkdir -p l4-proxy/target/lib;"
                        + " echo jar > l4-proxy/target/tidegate-l4-proxy-0.1.0.jar");
        return source;
    }

    private Run run(String... arguments) throws IOException, InterruptedException {
        return run(home.resolve("bin/tidegate"), List.of(arguments), "TIDEGATE_JAVA_OPTS", "");
    }

    private Run run(Path script, List<String> arguments, String variable, String value)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile(temp, "stdout", "");
        Path err = Files.createTempFile(temp, "stderr", "");
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(arguments);
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().put("JAVA_HOME", javaHome.toString());
        builder.environment().put("PATH", temp.resolve("path") + ":" + System.getenv("PATH"));
        builder.environment().keySet().removeAll(List.of("TIDEGATE_ARCHIVE", "CACHE_DIRECTORY", "STATE_DIRECTORY"));
        builder.environment().put(variable, value);
        Process process = builder.start();
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException(command + " did not end within " + TIMEOUT_SECONDS + " s");
        }
        return new Run(
                process.pid(),
                process.exitValue(),
                Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }

    private void release(String version) throws IOException {
        Files.writeString(javaHome.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
    }

    private static void jar(Path jar) throws IOException {
        Files.createDirectories(jar.getParent());
        Files.writeString(jar, "not read by these tests");
    }

    private static void program(Path file, String body) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + body + "\n");
        assertTrue(file.toFile().setExecutable(true), "made executable: " + file);
    }

    private static Path repository() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isExecutable(directory.resolve("bin/tidegate"))) {
            directory = directory.getParent();
            if (directory == null) {
                throw new AssertionError("no bin/tidegate above " + Path.of("").toAbsolutePath());
            }
        }
        return directory;
    }

    private record Run(long pid, int exitCode, String stdout, String stderr) {}
}
