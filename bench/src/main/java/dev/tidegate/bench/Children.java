package dev.tidegate.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The processes that a comparison has started, so that none outlives it, ctrl-C included. Used by the thread that compares
 * and by the shutdown hook.
 */
final class Children implements AutoCloseable {
    private static final long TERM_SECONDS = 5;

    private final List<Process> processes = new ArrayList<>();
    private boolean closed;

    /** Starts a process that {@link #close} ends, with its children. */
    synchronized Process start(ProcessBuilder builder) throws IOException {
        if (closed) {
            throw new IOException("stopping: " + builder.command() + " is not started any more");
        }
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    /** Ends one process and its children: asks, waits for 5 s, insists. */
    void stop(Process process) {
        List<ProcessHandle> handles = Stream.concat(process.descendants(), Stream.of(process.toHandle()))
                .toList();
        process.destroy();
        try {
            if (!process.waitFor(TERM_SECONDS, TimeUnit.SECONDS)) {
                System.err.println("process " + process.pid() + " ignored TERM for " + TERM_SECONDS + " s; killed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        handles.forEach(ProcessHandle::destroyForcibly);
        synchronized (this) {
            processes.remove(process);
        }
    }

    /** Ends all that are left; others may be started after. */
    void stopAll() {
        List<Process> left;
        synchronized (this) {
            left = List.copyOf(processes);
        }
        left.forEach(this::stop);
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        stopAll();
    }
}
