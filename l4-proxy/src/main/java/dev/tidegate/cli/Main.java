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
    private final StartingSignals signals;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    private Main(StartingSignals signals) {
        this.signals = signals;
    }

    /** Starts the command that the arguments name. */
    public static void main(String[] arguments) {
        StartingSignals signals = new StartingSignals(() -> System.exit(Exit.OK));
        if (arguments.length > 0 && arguments[0].equals(RunCommand.NAME)) {
            signals.handleAll(); // before the options and the file are read, which takes half of the start
        }
        System.exit(execute(
                new PrintWriter(System.out, true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                signals,
                arguments));
    }

    /** The same, with the exit code as the answer. */
    static int execute(PrintWriter out, PrintWriter err, String... arguments) {
        return execute(out, err, new StartingSignals(() -> System.exit(Exit.OK)), arguments);
    }

    private static int execute(PrintWriter out, PrintWriter err, StartingSignals signals, String... arguments) {
        return Usage.on(new CommandLine(new Main(signals)))
                .setOut(out)
                .setErr(err)
                .execute(arguments);
    }

    /** What signals do to the process. */
    StartingSignals signals() {
        return signals;
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "a command is missing");
    }
}
