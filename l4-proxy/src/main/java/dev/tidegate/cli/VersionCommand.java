package dev.tidegate.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code tidegate version}. */
@Command(name = "version", description = "Prints the version, and what it runs on.")
final class VersionCommand implements Runnable {
    @Option(
            names = "--output",
            paramLabel = "table|json",
            converter = CheckCommand.OutputConverter.class,
            description = "table: a line (default); json: an object.")
    private CheckCommand.Output output;

    @ParentCommand
    private Main main;

    @Spec
    private CommandSpec spec;

    /** The version that the jar was built as. */
    static String version() {
        String built = VersionCommand.class.getPackage().getImplementationVersion();
        return built == null ? "unpackaged" : built;
    }

    /** What is printed: the version, and what it runs on. */
    static String line() {
        return "tidegate " + version() + " (java " + Runtime.version() + ", " + System.getProperty("os.name") + " "
                + System.getProperty("os.arch") + ")";
    }

    @Override
    public void run() {
        spec.commandLine()
                .getOut()
                .println(
                        switch (main.output(output)) {
                            case TABLE -> line();
                            case JSON -> json().pretty();
                        });
    }

    private static Json json() {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("version", version());
        members.put("java", Runtime.version().toString());
        members.put("os", System.getProperty("os.name"));
        members.put("arch", System.getProperty("os.arch"));
        return Json.object(members);
    }
}
