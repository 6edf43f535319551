package dev.tidegate.cli;

import dev.tidegate.config.ConfigSchema;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tidegate schema}. */
@Command(name = "schema", description = "Prints the JSON Schema of the configuration, for editors.")
final class SchemaCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().getOut().println(ConfigSchema.json());
    }
}
