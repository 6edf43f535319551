package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.testkit.Tool;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A program of the machine, run to its end within a bound, with a file to read and with output that may be any bytes.
 *
 * <p>One that is not installed ends the test as {@link Tool#require} says.
 */
final class Command {
    /** The longest that a program may run when nothing else is said. */
    static final Duration BOUND = Duration.ofSeconds(60);

    /** What came of a run. */
    static final class Result {
        private final List<String> command;
        private final int exit;
        private final byte[] output;
        private final String errors;

        Result(List<String> command, int exit, byte[] output, String errors) {
            this.command = command;
            this.exit = exit;
            this.output = output;
            this.errors = errors;
        }

        /** All of its standard output. */
        byte[] output() {
            return output;
        }

        /** All of its standard output, as text. */
        String text() {
            return new String(output, StandardCharsets.UTF_8);
        }

        /** All of its standard error. */
        String errors() {
            return errors;
        }

        /** Fails, with all that it said, unless it exited with 0. */
        Result expectSuccess() {
            assertEquals(0, exit, () -> command + " failed\n" + text() + errors);
            return this;
        }
    }

    private Command() {}

    /** Runs it with nothing to read. */
    static Result run(String name, String... arguments) throws IOException, InterruptedException {
        return run(new File("/dev/null").toPath(), BOUND, name, arguments);
    }

    /**
     * Runs it with a file to read.
     *
     * @throws AssertionError when it has not ended within the bound; it is killed then
     */
    static Result run(Path input, Duration bound, String name, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = line(name, arguments);
        Path output = Files.createTempFile("tidegate-" + name, ".out");
        Path errors = Files.createTempFile("tidegate-" + name, ".err");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(input.toFile())
                    .redirectOutput(output.toFile())
                    .redirectError(errors.toFile())
                    .start();
            if (!process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor();
                throw new AssertionError(command + " has not ended within " + bound.toSeconds() + " s\n"
                        + Files.readString(output, StandardCharsets.ISO_8859_1) + Files.readString(errors));
            }
            return new Result(command, process.exitValue(), Files.readAllBytes(output), Files.readString(errors));
        } finally {
            Files.delete(output);
            Files.delete(errors);
        }
    }

    /** The words to start a program with. */
    static List<String> line(String name, String... arguments) {
        List<String> line = new ArrayList<>();
        line.add(Tool.require(name).path().toString());
        line.addAll(List.of(arguments));
        return line;
    }
}
