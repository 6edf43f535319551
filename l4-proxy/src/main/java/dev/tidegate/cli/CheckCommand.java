package dev.tidegate.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.Problem;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code tidegate check}. */
@Command(
        name = "check",
        description = "Reads the configuration and tells every problem in it. Opens no socket.",
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
            defaultValue = "table",
            converter = OutputConverter.class,
            description = "table: lines on stderr; json: an object on stdout.")
    private Output output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        ConfigResult result = ConfigReader.read(config.file(), System::getenv);
        boolean valid =
                result.config().isPresent() && (!strict || result.problems().isEmpty());
        switch (output) {
            case TABLE -> {
                result.problems().forEach(problem -> spec.commandLine().getErr().println(problem));
                if (valid) {
                    spec.commandLine().getOut().println(config.file() + ": valid");
                }
            }
            case JSON -> spec.commandLine().getOut().println(json(valid, result));
        }
        return valid ? Exit.OK : Exit.FAILED;
    }

    private static String json(boolean valid, ConfigResult result) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode().put("valid", valid);
        var problems = root.putArray("problems");
        for (Problem problem : result.problems()) {
            problems.addObject()
                    .put("file", problem.file())
                    .put("line", problem.line())
                    .put("column", problem.column())
                    .put("path", problem.path())
                    .put("message", problem.message())
                    .put("hint", problem.hint())
                    .put("severity", problem.severity().name().toLowerCase(Locale.ROOT));
        }
        return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(root);
    }
}
