package dev.tidegate.control;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps runtime state over restarts. Nothing that can happen to it stops a start or a change: state that cannot be read is
 * none, and state that cannot be written is told of.
 *
 * <p>Called by any thread; writes on {@code tidegate-state}.
 */
public final class StateStore implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StateStore.class);

    /** How long a close waits for what is being written: a disk that hangs must not hang the end of the process. */
    private static final long LAST_WRITE_SECONDS = 5;

    /** Puts a text on the disk. */
    interface Writer {
        void write(byte[] text) throws IOException;
    }

    private final Optional<StateFile> file;
    private final Writer writer;
    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("tidegate-state", true));

    private final Object monitor = new Object();
    /** The newest value that is not yet being written, and who asked for it or for one before it. Both: monitor. */
    private RuntimeState waiting;

    private List<CompletableFuture<Optional<String>>> askers = new ArrayList<>();

    /** Kinds of failure that were told of since a write last worked. Confined to the writing thread. */
    private final Set<String> told = new HashSet<>();

    private StateStore(Optional<StateFile> file, Writer writer) {
        this.file = file;
        this.writer = writer;
    }

    /**
     * Opens the store in that directory and makes it if need be. When that cannot be, a line says so, and the store tries
     * again with each write; when there is no directory, every write fails.
     */
    public static StateStore open(StateDirectory directory) {
        if (directory.path().isEmpty()) {
            log.warn("runtime state is not kept over a restart: {}", directory.why());
            return new StateStore(Optional.empty(), text -> {
                throw new IOException("there is no state directory: " + directory.why());
            });
        }
        StateFile file = new StateFile(directory.path().get());
        try {
            file.makeDirectory();
            log.debug("runtime state is kept in {} ({})", file.path(), directory.why());
        } catch (IOException cannot) {
            log.warn(
                    "runtime state is not kept over a restart: {} ({}); mend it, or set process.state-dir to a directory that"
                            + " can be written",
                    reason(cannot),
                    directory.why());
        }
        return new StateStore(Optional.of(file), file::write);
    }

    /** A store with nothing to load that writes so. */
    static StateStore writingTo(Writer writer) {
        return writingTo(Optional.empty(), writer);
    }

    static StateStore writingTo(Optional<StateFile> file, Writer writer) {
        return new StateStore(file, writer);
    }

    /**
     * Reads what was kept. What cannot be read is logged, kept aside as {@code runtime.json.bad}, and taken for nothing.
     * To be called before the first save.
     *
     * @return the state as it was saved last, not yet held against a configuration
     */
    public RuntimeState load() {
        if (file.isEmpty()) {
            return RuntimeState.EMPTY;
        }
        StateFile kept = file.get();
        Optional<RuntimeState> state = Optional.empty();
        try {
            state = kept.read();
        } catch (StateFormat.Unreadable bad) {
            log.warn("runtime state is lost: {} {}; {}", kept.path(), bad.getMessage(), setAside(kept));
        } catch (IOException cannot) {
            log.warn("runtime state is lost: it cannot be read: {}; {}", reason(cannot), setAside(kept));
        }
        removeTemporaries(kept);
        return state.orElse(RuntimeState.EMPTY);
    }

    /** The next write would put another in its place. */
    private static String setAside(StateFile kept) {
        try {
            return "the file is kept as " + kept.setAside();
        } catch (IOException cannot) {
            return "the file cannot be kept aside: " + reason(cannot);
        }
    }

    private static void removeTemporaries(StateFile kept) {
        try {
            kept.removeTemporaries();
        } catch (IOException cannot) {
            // Without a directory there are none; with one that cannot be listed, they only take room.
            log.debug("nothing to remove beside {}", kept.path(), cannot);
        }
    }

    /**
     * Saves a state, and does not wait for it. Of states that wait for an earlier write only the newest is written.
     *
     * @return completes when this state or a newer one is on the disk, empty; or with why it is not, one line. Never
     *     completes exceptionally; completes on the writing thread, which must not be kept
     */
    public CompletableFuture<Optional<String>> save(RuntimeState state) {
        CompletableFuture<Optional<String>> asker = new CompletableFuture<>();
        synchronized (monitor) {
            if (waiting == null) {
                try {
                    thread.execute(this::writeNewest);
                } catch (RejectedExecutionException closed) {
                    return CompletableFuture.completedFuture(Optional.of("the process has stopped"));
                }
            }
            waiting = state;
            askers.add(asker);
        }
        return asker;
    }

    private void writeNewest() {
        RuntimeState state;
        List<CompletableFuture<Optional<String>>> answered;
        synchronized (monitor) {
            state = waiting;
            waiting = null;
            answered = askers;
            askers = new ArrayList<>();
        }
        Optional<String> failure = write(state);
        answered.forEach(asker -> asker.complete(failure));
    }

    private Optional<String> write(RuntimeState state) {
        try {
            writer.write(StateFormat.encode(state));
        } catch (IOException cannot) {
            String reason = named(reason(cannot));
            if (told.add(cannot.getClass().getName() + reason)) {
                log.warn("runtime state cannot be written, a restart would lose it: {}", reason);
            }
            return Optional.of(reason);
        } catch (RuntimeException fault) {
            if (told.add(fault.toString())) {
                log.error("runtime state cannot be written by a fault of our own", fault);
            }
            return Optional.of("internal error: " + fault.getMessage());
        }
        if (!told.isEmpty()) {
            told.clear();
            log.info("runtime state is written again");
        }
        return Optional.empty();
    }

    /** Some of the system's messages are about no file: those of a full disk, for one. */
    private String named(String reason) {
        boolean says =
                file.isEmpty() || reason.contains(file.get().path().getParent().toString());
        return says ? reason : file.get().path() + ": " + reason;
    }

    /** Some of the JDK's messages are nothing but the path. */
    private static String reason(IOException failed) {
        if (failed instanceof AccessDeniedException) {
            return failed.getMessage() + ": permission denied";
        }
        if (failed instanceof NoSuchFileException) {
            return failed.getMessage() + ": no such file or directory";
        }
        if (failed instanceof FileAlreadyExistsException) {
            return failed.getMessage() + ": exists and is no directory";
        }
        return String.valueOf(failed.getMessage());
    }

    /** Where the state is kept; empty when there is no directory. */
    public Optional<Path> path() {
        return file.map(StateFile::path);
    }

    /** Writes what waits, and ends the thread. Waits for 5 s at most. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(LAST_WRITE_SECONDS, TimeUnit.SECONDS)) {
                log.warn("runtime state is still being written waited={}s", LAST_WRITE_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
