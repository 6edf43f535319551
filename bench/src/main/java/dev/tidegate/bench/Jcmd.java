package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The JDK's {@code jcmd}, which asks a JVM that runs. Immutable. */
final class Jcmd {
    private final String program;

    private Jcmd(String program) {
        this.program = program;
    }

    /** The one of that {@code java}; where it has none, the one on the PATH. */
    static Jcmd beside(String java) throws IOException {
        Path real = Files.isSymbolicLink(Path.of(java)) ? Path.of(java).toRealPath() : Path.of(java);
        Path program = real.resolveSibling("jcmd");
        return new Jcmd(Files.isExecutable(program) ? program.toString() : "jcmd");
    }

    /** What it answers; throws when it cannot be asked, or says that it failed. */
    String ask(long pid, String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(program, Long.toString(pid)));
        command.addAll(List.of(words));
        return Tool.output(command.toArray(String[]::new));
    }
}
