package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code bin/tidegate}, and the JVM and flags that it runs on. Immutable. */
final class TidegateLauncher {
    private final Path script;
    private final List<String> java;

    private TidegateLauncher(Path script, List<String> java) {
        this.script = script;
        this.java = java;
    }

    /** Asks the script, which builds first what is not built. */
    static TidegateLauncher in(Path home) throws IOException {
        Path script = home.resolve("bin/tidegate");
        ProcessBuilder builder = new ProcessBuilder(script.toString()).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("TIDEGATE_PRINT_COMMAND", "1");
        List<String> command = Tool.output(builder).lines().toList();
        return new TidegateLauncher(script, command.subList(0, command.indexOf("-cp")));
    }

    Path script() {
        return script;
    }

    String java() {
        return java.get(0);
    }

    List<String> flags() {
        return java.subList(1, java.size());
    }

    /** The command that runs {@code mainClass} of this program on the same JVM with the same flags. */
    List<String> sameJvm(String mainClass, String... arguments) {
        List<String> command = new ArrayList<>(java);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
        command.addAll(List.of(arguments));
        return command;
    }
}
