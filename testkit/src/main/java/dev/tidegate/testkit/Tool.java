package dev.tidegate.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An external program that tests use, found on the PATH or in the usual directories.
 *
 * <pre>{@code
 * Tool.Result result = Tool.require("curl").run(Duration.ofSeconds(10), "-s", "http://" + address);
 * assertEquals(0, result.exit(), result::toString);
 * }</pre>
 *
 * <p>A missing tool is a {@link Requirement} that is not met.
 */
public final class Tool {
    private static final Pattern PATH_SEPARATOR = Pattern.compile(Pattern.quote(File.pathSeparator));
    private static final List<String> USUAL = List.of("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin");
    private static final int PORTS_TRIED = 5;

    private final Path path;

    private Tool(Path path) {
        this.path = path;
    }

    /** The tool, or the end of the test. */
    public static Tool require(String name) {
        Optional<Path> found = find(name);
        Requirement.met(found.isPresent(), name + " is not installed; install it to run this test");
        return new Tool(found.orElseThrow());
    }

    private static Optional<Path> find(String name) {
        String searched = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.concat(PATH_SEPARATOR.splitAsStream(searched), USUAL.stream())
                .map(directory -> Path.of(directory, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    /**
     * Runs it to its end.
     *
     * @throws AssertionError when it has not ended after {@code bound}; it is killed and its output is in the message
     */
    public Result run(Duration bound, String... arguments) {
        try (RunningTool running = start(arguments)) {
            int exit = running.awaitExit(bound);
            return new Result(exit, running.stdout(), running.stderr());
        }
    }

    /** Starts it; closing the handle ends it. */
    public RunningTool start(String... arguments) {
        return start(TempDir.create(), List.of(arguments));
    }

    /**
     * Starts a server on a port of 127.0.0.1 and waits until it listens. As the port may be taken meanwhile, up to five are
     * tried.
     *
     * @param arguments the command line for a given port
     */
    public RunningTool listen(IntFunction<List<String>> arguments) {
        return listen((port, directory) -> arguments.apply(port));
    }

    RunningTool listen(Preparation preparation) {
        String failures = "";
        for (int tries = 0; tries < PORTS_TRIED; tries++) {
            int port = FreePort.pick();
            TempDir directory = TempDir.create();
            RunningTool running = start(directory, preparation.arguments(port, directory));
            if (running.tryAwaitListening(port)) {
                return running;
            }
            failures += "\n" + running;
            running.close();
        }
        throw new AssertionError(path + " did not listen on any of " + PORTS_TRIED + " ports:" + failures);
    }

    /** Writes what a server needs into its directory and says how to start it. */
    interface Preparation {
        List<String> arguments(int port, TempDir directory);
    }

    private RunningTool start(TempDir directory, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(path.toString()));
        command.addAll(arguments);
        try {
            Process process = new ProcessBuilder(command)
                    .directory(directory.path().toFile())
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(directory.path().resolve(RunningTool.STDOUT).toFile())
                    .redirectError(directory.path().resolve(RunningTool.STDERR).toFile())
                    .start();
            return new RunningTool(command, process, directory);
        } catch (IOException e) {
            directory.close();
            throw new UncheckedIOException("cannot start " + command, e);
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }

    /**
     * How a run ended.
     *
     * @param exit the exit code; 128 + n when signal n ended it
     */
    public record Result(int exit, String stdout, String stderr) {}
}
