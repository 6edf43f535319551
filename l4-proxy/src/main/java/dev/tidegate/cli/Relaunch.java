package dev.tidegate.cli;

import dev.tidegate.systemd.ListenFds;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** How this process is started anew, to take over from itself. Immutable. */
final class Relaunch {
    /** The launcher's own path, which it tells the JVM; what is there now may be a newer version. */
    static final String LAUNCHER = "tidegate.launcher";

    private final List<String> command;

    private Relaunch(List<String> command) {
        this.command = List.copyOf(command);
    }

    /**
     * By the launcher where it is known, else by the JVM's own command line.
     *
     * @param arguments what this process was started with, behind the launcher's name
     * @throws IOException when the own command line cannot be read
     */
    static Relaunch of(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        String launcher = System.getProperty(LAUNCHER, "");
        if (launcher.isEmpty()) {
            String own = Files.readString(Path.of("/proc/self/cmdline"), StandardCharsets.UTF_8);
            command.addAll(List.of(own.split("\0", -1)).subList(0, own.split("\0", -1).length - 1));
            command.set(0, ProcessHandle.current().info().command().orElse(command.get(0)));
        } else {
            command.add(launcher);
            command.addAll(arguments);
        }
        if (!command.contains(RunCommand.TAKE_OVER)) {
            command.add(RunCommand.TAKE_OVER);
        }
        return new Relaunch(command);
    }

    /**
     * Starts it, with what this process says as its words too, and out of the reach of a terminal's signals.
     *
     * @throws IOException when it cannot be started
     */
    Process start() throws IOException {
        List<String> detached = new ArrayList<>(command);
        Stream.of("/usr/bin/setsid", "/bin/setsid")
                .filter(file -> Files.isExecutable(Path.of(file)))
                .findFirst()
                .ifPresent(setsid -> detached.add(0, setsid));
        ProcessBuilder builder = new ProcessBuilder(detached)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        // What systemd said was for this process alone; of its watchdog the next one is to keep the pace too.
        ListenFds.VARIABLES.forEach(builder.environment()::remove);
        builder.environment().remove("WATCHDOG_PID");
        return builder.start();
    }
}
