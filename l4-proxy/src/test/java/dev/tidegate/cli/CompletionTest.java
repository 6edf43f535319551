package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionTest {
    private static final Duration BOUND = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private Path script(String shell) throws IOException {
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out, true);
        assertEquals(Exit.OK, Main.execute(writer, writer, "completion", shell), out::toString);
        return Files.writeString(directory.resolve(shell), out.toString());
    }

    /** What a shell offers after those words; the last one is begun. */
    private List<String> bash(String... words) throws IOException {
        String line = String.join(" ", words);
        List<String> arguments = new ArrayList<>(
                List.of("--noprofile", "--norc", "-c", """
                source "$0"
                COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
                function=$(complete -p tidegate | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
                "$function" tidegate "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """, script("bash").toString()));
        arguments.addAll(List.of(words));
        Tool.Result result = Tool.require("bash").run(BOUND, arguments.toArray(String[]::new));
        // Outside of an interactive shell, bash has no options of a completion under way, and says so.
        String unexpected = result.stderr().replaceAll(".*compopt: not currently executing completion function\n", "");
        assertEquals("", unexpected, line);
        return result.stdout().lines().map(String::strip).toList();
    }

    @Test
    void bashCompletesCommands() throws IOException {
        List<String> all = bash("tidegate", "");

        assertTrue(
                all.containsAll(List.of("status", "top", "drain", "undrain", "events", "run", "check")), all::toString);
        assertFalse(all.contains("man"), "hidden");
        assertEquals(List.of("drain"), bash("tidegate", "dr"));
    }

    @Test
    void bashCompletesOptionsAndTheirWords() throws IOException {
        List<String> options = bash("tidegate", "drain", "--");

        assertTrue(options.containsAll(List.of("--deadline", "--wait", "--admin", "--output")), options::toString);
        assertEquals(List.of("wait", "graceful", "cut"), bash("tidegate", "drain", "--mode", ""));
        assertEquals(List.of("debug"), bash("tidegate", "log-level", "d"));
    }
}
