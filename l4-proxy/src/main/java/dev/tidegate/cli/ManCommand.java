package dev.tidegate.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tidegate man}: for whoever makes a package. */
@Command(name = "man", hidden = true, description = "Writes the manual pages, one a command, into a directory.")
final class ManCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", description = "Made if it is not there.")
    private Path directory;

    @Option(
            names = "--date",
            paramLabel = "YYYY-MM-DD",
            description = "That the pages tell (default: today); a build that shall give the same each time says one.")
    private LocalDate date = LocalDate.now(ZoneOffset.UTC);

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try {
            Files.createDirectories(directory);
            for (Map.Entry<String, String> page :
                    ManPages.of(Main.commandLine().getCommandSpec(), date).entrySet()) {
                Files.writeString(directory.resolve(page.getKey()), page.getValue(), StandardCharsets.UTF_8);
            }
            return Exit.OK;
        } catch (IOException e) {
            spec.commandLine().getErr().println("tidegate: cannot write manual pages to " + directory + ": " + e);
            return Exit.FAILED;
        }
    }
}
