package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** {@code bin/tidegate}, and the JVM and flags that it runs on. Immutable. */
final class TidegateLauncher {
    private final Path script;
    private final List<String> java;
    private final List<Path> classPath;

    private TidegateLauncher(Path script, List<String> java, List<Path> classPath) {
        this.script = script;
        this.java = java;
        this.classPath = classPath;
    }

    /** Asks the script, which builds first what is not built. */
    static TidegateLauncher in(Path home) throws IOException {
        Path script = home.resolve("bin/tidegate");
        // As it would run, since other commands have other flags: what is put beside it is to have the same.
        ProcessBuilder builder =
                new ProcessBuilder(script.toString(), "run").redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("TIDEGATE_PRINT_COMMAND", "1");
        List<String> command = Tool.output(builder).lines().toList();
        int classPath = command.indexOf("-cp");
        List<Path> jars = Stream.of(command.get(classPath + 1).split(":", -1))
                .map(Path::of)
                .toList();
        return new TidegateLauncher(script, command.subList(0, classPath), jars);
    }

    Path script() {
        return script;
    }

    List<Path> classPath() {
        return classPath;
    }

    String java() {
        return java.get(0);
    }

    List<String> flags() {
        return java.subList(1, java.size());
    }

    /** The command that runs {@code mainClass} of this program on the same JVM with the same flags, and with more behind them. */
    List<String> sameJvm(List<String> moreFlags, String mainClass, String... arguments) {
        List<String> command = new ArrayList<>(java);
        command.addAll(moreFlags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
        command.addAll(List.of(arguments));
        return command;
    }
}
