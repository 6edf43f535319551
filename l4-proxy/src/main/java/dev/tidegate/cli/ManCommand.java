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
@Command(name = "man", hidden = true, description = "Writes the manual pages into a directory.")
final class ManCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "DIR",
            description = "Gets man1 with a page for each command, and man5 with that of the configuration.")
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
            for (Map.Entry<String, String> page :
                    ManPages.of(Main.commandLine().getCommandSpec(), date).entrySet()) {
                Path file = directory.resolve(page.getKey());
                Files.createDirectories(file.toAbsolutePath().getParent());
                Files.writeString(file, page.getValue(), StandardCharsets.UTF_8);
            }
            return Exit.OK;
        } catch (IOException e) {
            spec.commandLine().getErr().println("tidegate: cannot write manual pages to " + directory + ": " + e);
            return Exit.FAILED;
        }
    }
}
