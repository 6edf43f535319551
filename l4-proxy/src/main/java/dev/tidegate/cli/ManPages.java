package dev.tidegate.cli;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * The manual pages of all commands and of the configuration, in the language of man(7), from what the command line knows of
 * itself. Stateless.
 */
final class ManPages {
    private ManPages() {}

    /**
     * The pages.
     *
     * @param root the command that has all others
     * @param date that they tell, as 2026-11-29
     * @return the text of each page, by the name of its file, below the directory of its section
     */
    static Map<String, String> of(CommandSpec root, LocalDate date) {
        Map<String, String> pages = new LinkedHashMap<>();
        List<CommandSpec> commands = new ArrayList<>(List.of(root));
        root.subcommands().values().stream()
                .map(line -> line.getCommandSpec())
                .filter(command ->
                        !command.usageMessage().hidden() && !command.name().equals("help"))
                .forEach(commands::add);
        for (CommandSpec command : commands) {
            pages.put("man1/" + title(command) + ".1", page(command, commands, date));
        }
        pages.put("man5/" + ConfigManPage.NAME + ".5", ConfigManPage.of(date));
        return pages;
    }

    private static String title(CommandSpec command) {
        return command.qualifiedName("-");
    }

    private static String page(CommandSpec command, List<CommandSpec> all, LocalDate date) {
        UsageMessageSpec usage = command.usageMessage();
        Roff roff = new Roff(title(command), 1, date);
        roff.macro("SH", "NAME");
        String[] sentences = usage.description()[0].split("(?<=[.:]) ", 2);
        roff.line(title(command) + " \\- ", lead(sentences[0]));
        roff.macro("SH", "SYNOPSIS");
        synopsis(command, roff);
        roff.macro("SH", "DESCRIPTION");
        for (String paragraph : usage.description()) {
            roff.text(paragraph);
        }
        arguments(command, roff);
        options(command, roff);
        if (command.parent() == null) {
            roff.macro("SH", "COMMANDS");
            for (CommandSpec each : all.subList(1, all.size())) {
                roff.item(roff.bold(title(each)) + "(1)", each.usageMessage().description()[0]);
            }
        }
        exitCodes(usage, roff);
        footer(usage, roff);
        seeAlso(command, all, roff);
        return roff.toString();
    }

    private static String lead(String sentence) {
        String lead = sentence.replaceAll("[.:]$", "");
        return lead.substring(0, 1).toLowerCase(Locale.ROOT) + lead.substring(1);
    }

    private static void synopsis(CommandSpec command, Roff roff) {
        String text = new Help(command, Help.defaultColorScheme(Help.Ansi.OFF))
                .synopsis(0)
                .strip()
                .replaceAll("\\s+", " ");
        String name = command.qualifiedName();
        roff.line(roff.bold(name), text.startsWith(name) ? text.substring(name.length()) : " " + text);
    }

    private static void arguments(CommandSpec command, Roff roff) {
        List<PositionalParamSpec> positional = command.positionalParameters().stream()
                .filter(parameter -> !parameter.hidden())
                .toList();
        if (!positional.isEmpty()) {
            roff.macro("SH", "ARGUMENTS");
            positional.forEach(parameter -> roff.item(roff.italic(parameter.paramLabel()), described(parameter)));
        }
    }

    private static void options(CommandSpec command, Roff roff) {
        List<OptionSpec> options =
                command.options().stream().filter(option -> !option.hidden()).toList();
        if (options.isEmpty()) {
            return;
        }
        roff.macro("SH", "OPTIONS");
        for (OptionSpec option : options) {
            String names = Arrays.stream(option.names()).map(roff::bold).collect(Collectors.joining(", "));
            String label = option.arity().max() == 0 ? "" : " " + roff.italic(option.paramLabel());
            roff.item(names + label, described(option));
        }
    }

    private static String described(ArgSpec argument) {
        return String.join(" ", argument.description())
                .replace("${DEFAULT-VALUE}", String.valueOf(argument.defaultValue()));
    }

    private static void exitCodes(UsageMessageSpec usage, Roff roff) {
        if (!usage.exitCodeList().isEmpty()) {
            roff.macro("SH", "EXIT STATUS");
            usage.exitCodeList().forEach((code, meaning) -> roff.item(roff.bold(code.strip()), meaning));
        }
    }

    /** What stands below the options: as it is, for its columns mean something. */
    private static void footer(UsageMessageSpec usage, Roff roff) {
        if (usage.footer().length > 0) {
            String heading =
                    usage.footerHeading().replace("%n", "").replace(":", "").strip();
            roff.macro("SH", heading.isEmpty() ? "NOTES" : heading.toUpperCase(Locale.ROOT));
            roff.macro("nf");
            for (String line : usage.footer()) {
                roff.line(line.strip());
            }
            roff.macro("fi");
        }
    }

    private static void seeAlso(CommandSpec command, List<CommandSpec> all, Roff roff) {
        roff.macro("SH", "SEE ALSO");
        roff.line(Stream.concat(
                        all.stream()
                                .filter(each -> each != command && (each.parent() == null || command.parent() == null))
                                .map(each -> roff.bold(title(each)) + "(1)"),
                        Stream.of(roff.bold(ConfigManPage.NAME) + "(5)"))
                .collect(Collectors.joining(", ")));
    }
}
