package dev.tidegate.cli;

import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code tidegate check}. */
@Command(
        name = "check",
        description =
                "Reads the configuration and tells every problem in it, and what this machine lacks for it. Opens no socket.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:valid", "1:invalid; with --strict, warnings too", "2:wrong usage"})
final class CheckCommand implements Callable<Integer> {
    /** How problems are told. */
    enum Output {
        TABLE,
        JSON
    }

    /** Reads it as the usage has it. */
    static final class OutputConverter implements ITypeConverter<Output> {
        @Override
        public Output convert(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "table" -> Output.TABLE;
                case "json" -> Output.JSON;
                default -> throw new TypeConversionException("\"" + text + "\" is unknown; write table or json");
            };
        }
    }

    @Mixin
    private ConfigOption config;

    @Option(names = "--strict", description = "Takes warnings for errors.")
    private boolean strict;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            converter = OutputConverter.class,
            description = "table: lines on stderr (default); json: an object on stdout.")
    private Output output;

    @ParentCommand
    private Main main;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        ConfigResult result = ConfigReader.read(config.file(), System::getenv, new ThisMachine());
        boolean valid =
                result.config().isPresent() && (!strict || result.problems().isEmpty());
        switch (main.output(output)) {
            case TABLE -> {
                result.problems().forEach(problem -> spec.commandLine().getErr().println(problem));
                if (valid) {
                    spec.commandLine().getOut().println(config.file() + ": valid");
                }
            }
            case JSON -> spec.commandLine().getOut().println(json(valid, result).pretty());
        }
        return valid ? Exit.OK : Exit.FAILED;
    }

    /** All problems as an object. */
    static Json json(boolean valid, ConfigResult result) {
        List<Object> problems = new ArrayList<>();
        for (Problem problem : result.problems()) {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("file", problem.file());
            members.put("line", problem.line());
            members.put("column", problem.column());
            members.put("path", problem.path());
            members.put("message", problem.message());
            members.put("hint", problem.hint());
            members.put("severity", problem.severity().name().toLowerCase(Locale.ROOT));
            problems.add(members);
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("valid", valid);
        members.put("problems", problems);
        return Json.object(members);
    }
}
