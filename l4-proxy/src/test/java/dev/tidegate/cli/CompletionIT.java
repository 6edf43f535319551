package dev.tidegate.cli;

import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Completion as a person has it: by the tab key, in a real shell in a real terminal. */
@Timeout(120)
class CompletionIT {
    @TempDir
    Path directory;

    private String script(String shell) throws IOException {
        Path script = directory.resolve(shell);
        try (PrintWriter writer = new PrintWriter(Files.newBufferedWriter(script, StandardCharsets.UTF_8))) {
            Main.execute(writer, writer, "completion", shell);
        }
        return script.toString();
    }

    private static void assertCompletes(Tmux tmux, String source) {
        tmux.keys("PS1='> '; " + source + "; clear", "Enter");
        tmux.await(
                "a clear prompt",
                screen -> screen.startsWith(">") && screen.strip().equals(">"));
        tmux.keys("tidegate undr", "Tab");
        tmux.await("the command", screen -> screen.contains("> tidegate undrain"));
        tmux.keys("--fro", "Tab");
        tmux.await("its option", screen -> screen.contains("> tidegate undrain --frontend"));
    }

    @Test
    void bashCompletesByTab() throws IOException {
        try (Tmux tmux = Tmux.start(directory, Tool.require("bash") + " --noprofile --norc")) {
            assertCompletes(tmux, "source " + script("bash"));
        }
    }

    @Test
    void zshCompletesByTab() throws IOException {
        try (Tmux tmux = Tmux.start(directory, Tool.require("zsh") + " -f")) {
            assertCompletes(tmux, "autoload -U compinit && compinit -D -u; source " + script("zsh"));
        }
    }
}
