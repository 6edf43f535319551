package dev.tidegate.testkit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A started {@link Tool} with a directory of its own. Closing it sends TERM, after 5 s KILL, and waits for its end. */
public final class RunningTool implements AutoCloseable {
    static final String STDOUT = "stdout";
    static final String STDERR = "stderr";

    private static final Duration STOP_BOUND = Duration.ofSeconds(5);

    private final List<String> command;
    private final Process process;
    private final TempDir directory;
    private volatile int port; // writer: the thread that started it

    RunningTool(List<String> command, Process process, TempDir directory) {
        this.command = List.copyOf(command);
        this.process = process;
        this.directory = directory;
    }

    /** Its process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether it has not ended yet. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        if (port == 0) {
            throw new IllegalStateException(command + " was not started as a listener: use Tool.listen");
        }
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Its working directory; gone after {@link #close()}. */
    public Path directory() {
        return directory.path();
    }

    /** What it has written to standard output so far. */
    public String stdout() {
        return directory.read(STDOUT);
    }

    /** What it has written to standard error so far. */
    public String stderr() {
        return directory.read(STDERR);
    }

    /** Waits for its end and gives its exit code; an {@link AssertionError} with its output when {@code bound} passes. */
    public int awaitExit(Duration bound) {
        if (!waitFor(bound)) {
            throw new AssertionError("still running after " + Await.words(bound) + ": " + this);
        }
        return process.exitValue();
    }

    /** Looks at the kernel's table: a connect would reach the server, and what is behind it, as a stray client. */
    boolean tryAwaitListening(int wanted) {
        port = wanted;
        Await.tryUntil(Await.BOUND, () -> !isAlive() || isListening());
        return isAlive() && isListening();
    }

    private boolean isListening() {
        return Sockets.ofProcess(pid()).stream()
                .anyMatch(entry ->
                        entry.state() == Sockets.State.LISTEN && entry.local().getPort() == port);
    }

    @Override
    public void close() {
        process.destroy();
        if (!waitFor(STOP_BOUND)) {
            process.destroyForcibly();
            if (!waitFor(STOP_BOUND)) {
                throw new AssertionError("survived KILL for " + Await.words(STOP_BOUND) + ": " + this);
            }
        }
        directory.close();
    }

    private boolean waitFor(Duration bound) {
        try {
            return process.waitFor(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !process.isAlive();
        }
    }

    @Override
    public String toString() {
        return command + " (pid " + pid() + (isAlive() ? "" : ", exit " + process.exitValue()) + ") stdout: " + stdout()
                + " stderr: " + stderr();
    }
}
