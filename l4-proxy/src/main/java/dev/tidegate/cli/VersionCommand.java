package dev.tidegate.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tidegate version}. */
@Command(name = "version", description = "Prints the version, and what it runs on.")
final class VersionCommand implements Runnable {
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
        spec.commandLine().getOut().println(line());
    }
}
