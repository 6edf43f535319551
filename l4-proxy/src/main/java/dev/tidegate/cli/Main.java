package dev.tidegate.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Tidegate's command line. Only here does the process exit. */
@Command(
        name = "tidegate",
        description = "A Layer-4 TCP balancer whose connections end well.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            RunCommand.class,
            CheckCommand.class,
            DemoCommand.class,
            SchemaCommand.class,
            VersionCommand.class,
            CommandLine.HelpCommand.class
        })
public final class Main implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    /** Starts the command that the arguments name. */
    public static void main(String[] arguments) {
        System.exit(execute(
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                arguments));
    }

    /** The same, with the exit code as the answer. */
    static int execute(PrintWriter out, PrintWriter err, String... arguments) {
        return Usage.on(new CommandLine(new Main())).setOut(out).setErr(err).execute(arguments);
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "a command is missing");
    }
}
