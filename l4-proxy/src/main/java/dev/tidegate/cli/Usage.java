package dev.tidegate.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** What every command has without saying so: {@code --help}, and one answer to a wrong command line. */
final class Usage {
    private Usage() {}

    /**
     * Gives it to the command and to all below it.
     *
     * @return the same
     */
    static CommandLine on(CommandLine command) {
        addHelp(command);
        command.getCommandSpec()
                .versionProvider(() -> new String[] {VersionCommand.line()})
                .addOption(OptionSpec.builder("-V", "--version")
                        .versionHelp(true)
                        .description("The same as the command version.")
                        .build());
        return command.setParameterExceptionHandler((wrong, arguments) -> tell(wrong, arguments.length == 0));
    }

    private static void addHelp(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        if (spec.findOption("--help") == null) { // the command help comes with its own
            spec.addOption(OptionSpec.builder("-h", "--help")
                    .usageHelp(true)
                    .description("Prints this.")
                    .build());
        }
        command.getSubcommands().values().forEach(Usage::addHelp);
    }

    /** One line says what is wrong, and one where to read on: the whole help would push the first off the screen. */
    private static int tell(ParameterException wrong, boolean nothingAsked) {
        CommandLine command = wrong.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("tidegate: " + words(wrong));
        if (nothingAsked) {
            command.usage(err);
        } else {
            err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
        }
        return Exit.USAGE;
    }

    private static String words(ParameterException wrong) {
        if (!(wrong instanceof UnmatchedArgumentException unmatched) || unmatched.isUnknownOption()) {
            return wrong.getMessage();
        }
        CommandLine command = wrong.getCommandLine();
        String word = unmatched.getUnmatched().get(0);
        if (command.getSubcommands().isEmpty()) {
            return "\"" + word + "\" is one argument too many; "
                    + command.getCommandSpec().qualifiedName() + " takes " + arguments(command.getCommandSpec());
        }
        List<String> near = unmatched.getSuggestions();
        return "\"" + word + "\" is no command; "
                + (near.isEmpty()
                        ? "the commands are "
                                + String.join(", ", command.getSubcommands().keySet())
                        : "did you mean " + near.get(0) + "?");
    }

    private static String arguments(CommandSpec command) {
        List<PositionalParamSpec> known = command.positionalParameters();
        return known.isEmpty()
                ? "options only"
                : known.stream().map(PositionalParamSpec::paramLabel).collect(Collectors.joining(" ")) + " and options";
    }
}
