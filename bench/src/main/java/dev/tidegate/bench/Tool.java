package dev.tidegate.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Other programs, run to their end for what they print. */
final class Tool {
    private Tool() {}

    /** What the command prints on both its outputs; throws when it cannot be started or fails. */
    static String output(String... command) throws IOException {
        return output(new ProcessBuilder(command).redirectErrorStream(true));
    }

    /** The same for a process set up by the caller, stderr included. */
    static String output(ProcessBuilder builder) throws IOException {
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(
                        String.join(" ", builder.command()) + " failed with " + process.exitValue() + ":\n" + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for " + builder.command(), e);
        }
        return output;
    }

    static String firstLine(String... command) throws IOException {
        return output(command).lines().findFirst().orElse("").strip();
    }

    /** Those of {@code programs} that are not on the PATH. */
    static List<String> missing(List<String> programs) {
        List<String> missing = new ArrayList<>(programs);
        for (String directory : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            missing.removeIf(program -> Files.isExecutable(Path.of(directory, program)));
        }
        return missing;
    }
}
