package dev.tidegate.cli;

import java.io.PrintWriter;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tidegate completion}. */
@Command(
        name = "completion",
        description = "Prints a script that lets a shell complete commands and options.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  source <(tidegate completion bash)          in ~/.bashrc",
            "  source <(tidegate completion zsh)           in ~/.zshrc"
        })
final class CompletionCommand implements Runnable {
    /** Which shells there is a script for. */
    enum Shell {
        bash,
        zsh
    }

    @Parameters(paramLabel = "bash|zsh", description = "The shell that shall read it.")
    private Shell shell;

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        out.println("# Completes tidegate's commands and options: source <(tidegate completion " + shell + ")");
        // The one script does for both: where zsh reads it, it loads zsh's own support for bash's completions.
        out.println(AutoComplete.bash("tidegate", Main.commandLine()));
    }
}
