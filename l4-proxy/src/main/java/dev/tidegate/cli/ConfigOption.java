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

    /** To be filled in from the command line. */
    ConfigOption() {}

    /** As if the command line had said so. */
    ConfigOption(Path file) {
        this.file = file;
    }

    Path file() {
        return file;
    }
}
