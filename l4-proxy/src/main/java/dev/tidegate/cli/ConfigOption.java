package dev.tidegate.cli;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** {@code --config}, alike for all commands that read the file. */
final class ConfigOption {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            defaultValue = "/etc/tidegate/tidegate.yaml",
            description = "The configuration (default: ${DEFAULT-VALUE}).")
    private Path file;

    Path file() {
        return file;
    }
}
