package dev.tidegate.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Where the output goes. Stateless. */
final class Stdout {
    private Stdout() {}

    /**
     * Whether what is printed can be drawn over.
     *
     * @param environment of this process
     */
    static boolean isTerminal(Map<String, String> environment) {
        if ("dumb".equals(environment.getOrDefault("TERM", "dumb"))) {
            return false;
        }
        // System.console() asks for a terminal at standard input too, and newer JDKs answer with one that is none.
        Path output = Path.of("/proc/self/fd/1");
        if (!Files.isSymbolicLink(output)) {
            return false;
        }
        try {
            String target = Files.readSymbolicLink(output).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException unreadable) {
            return false; // plain lines are right everywhere
        }
    }
}
