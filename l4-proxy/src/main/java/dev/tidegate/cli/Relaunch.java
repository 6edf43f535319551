package dev.tidegate.cli;

import dev.tidegate.systemd.ListenFds;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How this process is started anew, to take over from itself. Immutable. */
final class Relaunch {
    /** The launcher's own path, which it tells the JVM; what is there now may be a newer version. */
    static final String LAUNCHER = "tidegate.launcher";

    private static final Logger log = LoggerFactory.getLogger(Relaunch.class);
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** A busy machine may take long to fork; whose number is not known can be neither watched nor let go. */
    private static final Duration FORK_PATIENCE = Duration.ofSeconds(30);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final List<String> command;
    private final Path where;

    private Relaunch(List<String> command, Path where) {
        this.command = List.copyOf(command);
        this.where = where;
    }

    /**
     * By the launcher where it is known, else by the JVM's own command line.
     *
     * @param arguments what this process was started with, behind the launcher's name
     * @param where it can be asked for its sockets; the next one's configuration may have another place
     * @throws IOException when the own command line cannot be read
     */
    static Relaunch of(List<String> arguments, Path where) throws IOException {
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
        return new Relaunch(command, where);
    }

    /**
     * The next process.
     *
     * @param child of this one, whose exit code is the next one's: itself, or what stands between the two
     * @param itself the next one
     */
    record Next(Process child, ProcessHandle itself) {
        long pid() {
            return itself.pid();
        }

        /** Takes away what stands between: the next one's parent is the service manager from now on. */
        void release() {
            if (child.pid() == pid()) {
                return;
            }
            try {
                child.destroyForcibly();
                if (!child.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                    log.warn("process {} does not end, though it was killed", child.pid());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Starts it, with what this process says as its words too, and out of the reach of a terminal's signals.
     *
     * <p>Under systemd something stands between: of a main process that is not its own child systemd neither sees the end nor
     * waits for it at a stop, but kills it at once. So once this process has handed over, {@link Next#release} makes the next
     * one an orphan, and by that systemd's child, before it is named as the main one.
     *
     * @throws IOException when it cannot be started
     */
    Next start() throws IOException {
        List<String> detached = new ArrayList<>(command);
        Optional<String> setsid = Stream.of("/usr/bin/setsid", "/bin/setsid")
                .filter(file -> Files.isExecutable(Path.of(file)))
                .findFirst();
        boolean between = setsid.isPresent() && System.getenv("NOTIFY_SOCKET") != null;
        setsid.ifPresent(tool -> detached.addAll(0, between ? List.of(tool, "--fork", "--wait") : List.of(tool)));
        ProcessBuilder builder = new ProcessBuilder(detached)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        // What systemd said was for this process alone; of its watchdog the next one is to keep the pace too.
        ListenFds.VARIABLES.forEach(builder.environment()::remove);
        builder.environment().remove("WATCHDOG_PID");
        builder.environment().put(HandOverPath.RUNNING, where.toString());
        Process child = builder.start();
        return new Next(child, between ? childOf(child, FORK_PATIENCE) : child.toHandle());
    }

    /**
     * What it has started; itself where it ends without having done so.
     *
     * @throws IOException when it has started nothing within the time; it is ended then
     */
    static ProcessHandle childOf(Process process, Duration patience) throws IOException {
        long begin = System.nanoTime();
        while (process.isAlive()) {
            Optional<ProcessHandle> started = process.children().findFirst();
            if (started.isPresent()) {
                return started.get();
            }
            if (System.nanoTime() - begin >= patience.toNanos()) {
                process.destroyForcibly();
                throw new IOException("setsid has started nothing within " + patience.toSeconds() + " s");
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return process.toHandle();
    }
}
