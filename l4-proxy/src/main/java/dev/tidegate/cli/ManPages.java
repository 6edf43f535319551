package dev.tidegate.cli;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The manual pages of all commands, in the language of man(7), from what the command line knows of itself. Stateless. */
final class ManPages {
    private ManPages() {}

    /**
     * The pages.
     *
     * @param root the command that has all others
     * @param date that they tell, as 2026-11-29
     * @return the text of each page, by its file name
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
            pages.put(title(command) + ".1", page(command, commands, date));
        }
        return pages;
    }

    private static String title(CommandSpec command) {
        return command.qualifiedName("-");
    }

    private static String page(CommandSpec command, List<CommandSpec> all, LocalDate date) {
        UsageMessageSpec usage = command.usageMessage();
        Roff roff = new Roff();
        roff.macro(
                "TH",
                title(command).toUpperCase(Locale.ROOT),
                "1",
                date.toString(),
                "Tidegate " + VersionCommand.version(),
                "Tidegate Manual");
        roff.macro("ad", "l"); // stretched lines of options are hard to read
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
        roff.line(all.stream()
                .filter(each -> each != command && (each.parent() == null || command.parent() == null))
                .map(each -> roff.bold(title(each)) + "(1)")
                .collect(Collectors.joining(", ")));
    }

    /** Text in man(7)'s language as it is written. For one page. */
    private static final class Roff {
        private static final String BOLD = "\u0001";
        private static final String ITALIC = "\u0002";
        private static final String PLAIN = "\u0003";

        private final StringBuilder out = new StringBuilder();

        /** Marks, which the escape of the text leaves alone. */
        String bold(String text) {
            return BOLD + text + PLAIN;
        }

        String italic(String text) {
            return ITALIC + text + PLAIN;
        }

        void macro(String name, String... arguments) {
            out.append('.').append(name);
            for (String argument : arguments) {
                // A date is read, so its hyphens must not be escaped.
                boolean plain = argument.matches("[A-Za-z0-9]+|[0-9-]+");
                out.append(plain ? " " + argument : " \"" + escaped(argument) + "\"");
            }
            out.append('\n');
        }

        /** A line of text, never taken for a request. */
        void line(String... parts) {
            String text = String.join("", parts);
            out.append(text.startsWith(".") || text.startsWith("'") ? "\\&" : "")
                    .append(escaped(text))
                    .append('\n');
        }

        /** A paragraph, a sentence a line, which is how the language wants it. */
        void text(String paragraph) {
            for (String sentence : paragraph.split("(?<=[a-z`)]\\.) (?=[A-Z])", -1)) {
                line(sentence);
            }
        }

        /** A term and what it means. */
        void item(String term, String meaning) {
            macro("TP");
            line(term);
            text(meaning);
        }

        private static String escaped(String text) {
            return text.replace("\\- ", "\u0004")
                    .replace("\\", "\\e")
                    .replace("-", "\\-")
                    .replace("`", "\\(ga")
                    .replace("\"", "\\(dq")
                    .replace("\u0004", "\\- ")
                    .replace(BOLD, "\\fB")
                    .replace(ITALIC, "\\fI")
                    .replace(PLAIN, "\\fR");
        }

        @Override
        public String toString() {
            return out.toString();
        }
    }
}
