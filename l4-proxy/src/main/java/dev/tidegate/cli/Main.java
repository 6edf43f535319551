package dev.tidegate.cli;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Command.LogLevel;
import dev.tidegate.admin.command.Command.RemovePolicy;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Tidegate's command line. Only here does the process exit. */
@Command(
        name = "tidegate",
        description = "A Layer-4 TCP balancer whose connections end well.",
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the running process refused, or what was asked for failed",
            "2:wrong usage",
            "69:the running process cannot be reached, or does not answer",
            "78:run: the configuration is missing or invalid",
            "130:ended by ctrl-C"
        })
public final class Main implements Runnable {
    /** In the order of the help. */
    private static final List<Class<?>> COMMANDS = List.of(
            RunCommand.class,
            CheckCommand.class,
            DiffCommand.class,
            ReloadCommand.class,
            UpgradeCommand.class,
            StatusCommand.class,
            TopCommand.class,
            ConnectionsCommand.class,
            DrainCommand.class,
            UndrainCommand.class,
            DisableCommand.class,
            EnableCommand.class,
            WeightCommand.class,
            AddCommand.class,
            RemoveCommand.class,
            CloseCommand.class,
            RebalanceCommand.class,
            OperationsCommand.class,
            EventsCommand.class,
            LogLevelCommand.class,
            DemoCommand.class,
            SchemaCommand.class,
            CompletionCommand.class,
            ManCommand.class,
            VersionCommand.class,
            CommandLine.HelpCommand.class);

    private final StartingSignals signals;
    private final Consumer<Service> whenUp;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @CommandLine.Mixin
    private AdminOptions admin;

    private Main(StartingSignals signals, Consumer<Service> whenUp) {
        this.signals = signals;
        this.whenUp = whenUp;
    }

    /** Starts the command that the arguments name. */
    public static void main(String[] arguments) {
        main(service -> {}, arguments);
    }

    /** The same, and has that look at the balancer once {@code run} has it up. */
    static void main(Consumer<Service> whenUp, String... arguments) {
        StartingSignals signals = new StartingSignals(() -> System.exit(Exit.OK));
        if (arguments.length > 0 && arguments[0].equals(RunCommand.NAME)) {
            signals.handleAll(); // before the options and the file are read, which takes half of the start
        }
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        System.exit(PlainRun.of(arguments)
                .map(plain -> run(plain, new Main(signals, whenUp), err))
                .orElseGet(() -> execute(
                        new PrintWriter(System.out, true, StandardCharsets.UTF_8), err, signals, whenUp, arguments)));
    }

    /** Without the library that understands command lines. */
    static int run(PlainRun plain, PrintWriter err) {
        return run(plain, new Main(new StartingSignals(() -> System.exit(Exit.OK)), service -> {}), err);
    }

    private static int run(PlainRun plain, Main main, PrintWriter err) {
        try {
            return new RunCommand(plain, main, err).call();
        } catch (RuntimeException fault) {
            fault.printStackTrace(err); // as the library does with a fault of a command
            return Exit.FAILED;
        }
    }

    /** The same, with the exit code as the answer. */
    static int execute(PrintWriter out, PrintWriter err, String... arguments) {
        return execute(out, err, new StartingSignals(() -> System.exit(Exit.OK)), service -> {}, arguments);
    }

    private static int execute(
            PrintWriter out, PrintWriter err, StartingSignals signals, Consumer<Service> whenUp, String... arguments) {
        boolean isRun = arguments.length > 0 && arguments[0].equals(RunCommand.NAME);
        // To look at all commands takes a third of the start.
        List<Class<?>> commands = isRun ? List.of(RunCommand.class) : COMMANDS;
        return commandLine(signals, whenUp, commands).setOut(out).setErr(err).execute(arguments);
    }

    /** All commands, to look at. */
    static CommandLine commandLine() {
        return commandLine(new StartingSignals(() -> System.exit(Exit.OK)), service -> {}, COMMANDS);
    }

    private static CommandLine commandLine(StartingSignals signals, Consumer<Service> whenUp, List<Class<?>> commands) {
        CommandLine all = new CommandLine(new Main(signals, whenUp));
        commands.forEach(all::addSubcommand);
        return Usage.on(all)
                .registerConverter(DrainMode.class, new WordConverter<>(DrainMode.class))
                .registerConverter(RemovePolicy.class, new WordConverter<>(RemovePolicy.class))
                .registerConverter(LogLevel.class, new WordConverter<>(LogLevel.class))
                .registerConverter(CompletionCommand.Shell.class, new WordConverter<>(CompletionCommand.Shell.class));
    }

    /** What signals do to the process. */
    StartingSignals signals() {
        return signals;
    }

    /** Who looks at the balancer once it is up. */
    Consumer<Service> whenUp() {
        return whenUp;
    }

    /** What was given before the command's name. */
    AdminOptions admin() {
        return admin;
    }

    /** The form of an answer: as the command was told, else as it was told before the command's name. */
    CheckCommand.Output output(CheckCommand.Output own) {
        if (own != null) {
            return own;
        }
        return admin.json() ? CheckCommand.Output.JSON : CheckCommand.Output.TABLE;
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "a command is missing");
    }
}
