package dev.tidegate.cli;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedClient;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * {@code tidegate} as a process of its own, started as the launcher does it.
 *
 * <pre>{@code
 * try (TidegateProcess tidegate = TidegateProcess.run(directory, yaml).start()) {
 *     var client = tidegate.connect();
 *     tidegate.signal("TERM");
 *     assertEquals(0, tidegate.awaitExit());
 * }
 * }</pre>
 */
final class TidegateProcess implements AutoCloseable {
    /** A JVM's start on a busy machine. */
    private static final Duration START_BOUND = Duration.ofSeconds(60);

    /** Loads a filter of four instructions: the call's number, is it that one, the error if so, go on if not. */
    private static final String REFUSING = """
            my ($call, $errno) = splice(@ARGV, 0, 2);
            my $prctl = {"x86_64" => 157, "aarch64" => 167}->{`uname -m` =~ s/\\s//r} or die "unknown machine";
            my $filter = pack("SCCL" x 4, 0x20, 0, 0, 0, 0x15, 0, 1, $call, 6, 0, 0, 0x50000 | $errno, 6, 0, 0, 0x7fff0000);
            my $program = pack("Sx6P", 4, $filter);
            syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no new privileges: $!";
            syscall($prctl, 22, 2, $program) == 0 or die "seccomp: $!";
            exec @ARGV or die $!;
            """;

    private static final Pattern BOUND = Pattern.compile("listening frontend=.* bound=\\S*:(\\d+)$");

    private static String classPath; // guarded by the class

    private final Process process;
    private final List<String> out = new CopyOnWriteArrayList<>();
    private final List<String> err = new CopyOnWriteArrayList<>();
    private final List<Thread> readers = new ArrayList<>();

    private TidegateProcess(Process process) {
        this.process = process;
        readers.add(reader(process.getInputStream(), out));
        readers.add(reader(process.getErrorStream(), err));
    }

    /** {@code tidegate run} with that configuration. */
    static Setup run(Path directory, String yaml) throws IOException {
        Path config = directory.resolve("tidegate.yaml");
        Files.writeString(config, yaml);
        return new Setup(List.of("run", "--config", config.toString()), directory.resolve("state"));
    }

    /** {@code tidegate} with those arguments. */
    static Setup with(String... arguments) {
        return new Setup(List.of(arguments), Path.of("/nonexistent"));
    }

    /**
     * The class path that this JVM's tests have, of jars alone, as the launcher's is: a class in a directory needs a
     * descriptor of its own to be loaded.
     */
    static synchronized String classPath() throws IOException {
        if (classPath == null) {
            List<String> jars = new ArrayList<>();
            String tests = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
            for (String entry : tests.split(File.pathSeparator, -1)) {
                Path path = Path.of(entry);
                if (entry.isEmpty()) {
                    continue; // Surefire ends the list with a colon, and the working directory is not meant
                }
                if (!Files.isDirectory(path)) {
                    jars.add(entry);
                } else if (!path.endsWith("test-classes")) {
                    jars.add(jar(path).toString());
                }
            }
            classPath = String.join(File.pathSeparator, jars);
        }
        return classPath;
    }

    /** The same with the tests' own classes. */
    private static String testClassPath() throws IOException {
        return Path.of(TidegateProcess.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                + File.pathSeparator
                + classPath();
    }

    private static Path jar(Path directory) throws IOException {
        Path jar = Files.createTempFile("tidegate-classes", ".jar");
        jar.toFile().deleteOnExit();
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(directory.relativize(file).toString()));
                Files.copy(file, out);
            }
        }
        return jar;
    }

    /** What to start. */
    static final class Setup {
        private final List<String> arguments;
        private final Path state; // what an operator changed stays there, and not in somebody's home
        private final List<String> jvm =
                new ArrayList<>(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"));
        private final Map<String, String> environment = new LinkedHashMap<>();
        private String main = Main.class.getName();
        private List<String> before = List.of();
        private String after = "";
        private String ignored = "";
        private Path launcher; // null: the class path of the tests
        private boolean archived = true;

        private Setup(List<String> arguments, Path state) {
            this.arguments = arguments;
            this.state = state;
        }

        /** By that {@code bin/tidegate}, and so from the jars that it finds. */
        Setup by(Path script) {
            launcher = script;
            return this;
        }

        /** With every class from its jar, as without {@code packaging/train}. */
        Setup withoutArchive() {
            archived = false;
            return this;
        }

        /** More arguments of the JVM. */
        Setup jvm(String... more) {
            jvm.addAll(List.of(more));
            return this;
        }

        /** With that variable in its environment. */
        Setup with(String name, String value) {
            environment.put(name, value);
            return this;
        }

        /** By another main class, which may be one of the tests'. */
        Setup main(Class<?> other) {
            main = other.getName();
            return this;
        }

        /** Run in user, mount or network namespaces of its own ({@code unshare}'s options), after shell commands. */
        Setup unshared(String options, String commands) {
            before = List.of("unshare", options, "sh", "-c");
            after = commands;
            return this;
        }

        /** Run in that network namespace, which {@code ip netns} knows. */
        Setup inNetwork(String namespace) {
            before = List.of("ip", "netns", "exec", namespace);
            return this;
        }

        /**
         * Run with the clock on the wall as libfaketime's file has it (an offset such as {@code +1h}); monotonic time is the
         * real one.
         *
         * @throws IllegalStateException where Debian's faketime is not installed
         */
        Setup clockFrom(Path file) throws IOException {
            Path library;
            try (Stream<Path> all = Files.list(Path.of("/usr/lib"))) {
                library = all.map(arch -> arch.resolve("faketime/libfaketimeMT.so.1"))
                        .filter(Files::exists)
                        .findFirst()
                        .orElseThrow(() -> new IllegalStateException("no libfaketime: install the package faketime"));
            }
            before = List.of(
                    "env",
                    "LD_PRELOAD=" + library,
                    "FAKETIME_TIMESTAMP_FILE=" + file,
                    "FAKETIME_NO_CACHE=1",
                    "FAKETIME_DONT_FAKE_MONOTONIC=1");
            return this;
        }

        /** Run under such a limit ({@code prlimit}'s option). */
        Setup limited(String limit) {
            before = List.of("prlimit", limit);
            return this;
        }

        /** Put that before the command, which it is to become. */
        Setup before(List<String> command) {
            before = command;
            return this;
        }

        /** Start with that signal ignored, as {@code nohup} does with HUP. */
        Setup ignoring(String signal) {
            ignored = signal;
            return this;
        }

        /**
         * Run where that system call fails with that error, as the seccomp profile of a container makes it.
         *
         * @param call its number; the same on all machines for calls from 424 on
         */
        Setup refusing(int call, int errno) {
            before = List.of("perl", "-e", REFUSING, Integer.toString(call), Integer.toString(errno));
            return this;
        }

        /** Starts it, and waits until it listens. */
        TidegateProcess start() throws IOException {
            TidegateProcess started = startOnly();
            try {
                started.awaitErr("started version=");
                return started;
            } catch (AssertionError e) {
                started.close();
                throw e;
            }
        }

        /** Starts it. */
        TidegateProcess startOnly() throws IOException {
            List<String> java = launcher == null ? java() : new ArrayList<>(List.of(launcher.toString()));
            java.addAll(arguments);
            List<String> command = new ArrayList<>(before);
            if (after.isEmpty()) {
                command.addAll(java);
            } else {
                command.add(after + " && exec \"$@\"");
                command.add("sh");
                command.addAll(java);
            }
            // Under nohup, or behind a shell's &, tests inherit signals that are ignored, and a JVM leaves those alone.
            List<String> signals = new ArrayList<>(List.of("env", "--default-signal=HUP,INT,TERM"));
            if (!ignored.isEmpty()) {
                signals.add("--ignore-signal=" + ignored);
            }
            command.addAll(0, signals);
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().remove("XDG_RUNTIME_DIR");
            builder.environment().remove("RUNTIME_DIRECTORY");
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            builder.environment().put("STATE_DIRECTORY", state.toString());
            builder.environment().putAll(environment);
            return new TidegateProcess(builder.start());
        }

        private List<String> java() throws IOException {
            List<String> java = new ArrayList<>();
            java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            // One with the tests' own classes before the others does not fit.
            boolean ours = main.equals(Main.class.getName());
            if (archived && ours) {
                java.addAll(ClassArchive.options());
            }
            java.addAll(jvm);
            if (Runtime.version().feature() >= 24) {
                // As the launcher does: without it the JVM warns on stderr of what Netty loads.
                java.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
            }
            String classPath = ours ? classPath() : testClassPath();
            java.addAll(List.of("-cp", classPath, main));
            return java;
        }
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Lines of stdout so far. */
    List<String> out() {
        return List.copyOf(out);
    }

    /** Lines of stderr so far. */
    List<String> err() {
        return List.copyOf(err);
    }

    /** Waits for a line of stderr that contains the text. */
    String awaitErr(String text) {
        try {
            Await.until(
                    "stderr has \"" + text + "\"", START_BOUND, () -> !process.isAlive() || first(err, text) != null);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "; it has " + err, e);
        }
        if (first(err, text) == null) {
            join(); // its last lines may still be on their way
        }
        String line = first(err, text);
        if (line == null) {
            throw new AssertionError("it ended without \"" + text + "\" on stderr: " + err);
        }
        return line;
    }

    private static String first(List<String> lines, String text) {
        return lines.stream().filter(line -> line.contains(text)).findFirst().orElse(null);
    }

    /** The port of the first listener. */
    int port() {
        Await.until("a listener is logged", START_BOUND, () -> first(err, "listening frontend=") != null);
        Matcher matcher = BOUND.matcher(first(err, "listening frontend="));
        if (!matcher.find()) {
            throw new AssertionError("no port in " + err);
        }
        return Integer.parseInt(matcher.group(1));
    }

    /** A client of the first listener, which is on loopback. */
    ScriptedClient connect() throws IOException {
        return ScriptedClient.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port()));
    }

    /** Sends a signal, by its name without {@code SIG}. */
    void signal(String name) throws IOException {
        command("kill", "-" + name, Long.toString(pid()));
    }

    /** Runs a command that must succeed. */
    static void command(String... words) throws IOException {
        Process command = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(command.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (command.waitFor() != 0) {
                throw new AssertionError(List.of(words) + " failed: " + said);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Waits for the end within the usual bound, and for all that it wrote; gives the exit code. */
    int awaitExit() {
        return awaitExit(Duration.ofSeconds(30));
    }

    /** Waits for the end within that bound, and for all that it wrote; gives the exit code. */
    int awaitExit(Duration bound) {
        try {
            if (!process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("still alive after " + bound + "; stderr: " + err);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
        join();
        return process.exitValue();
    }

    private void join() {
        for (Thread reader : readers) {
            try {
                reader.join(10_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends it if it still runs. */
    @Override
    public void close() {
        if (process.isAlive()) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            // Not the process itself, which would close the streams under their readers.
            process.toHandle().destroyForcibly();
        }
        awaitExit();
    }

    private static Thread reader(InputStream stream, List<String> lines) {
        Thread thread = new Thread(
                () -> {
                    try (BufferedReader reader =
                            new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                            lines.add(line);
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                "tidegate-process-reader");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
