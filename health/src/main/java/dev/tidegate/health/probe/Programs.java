package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The programs that checks run: some at a time, the others wait for their turn. Each group (a backend) has some turns of its
 * own that no other can take; the rest are for all, and go to the group that has the fewest. So programs of one that hang
 * never keep those of another from running. Any thread; the work is done on one of its own, as to start a process takes
 * milliseconds, and so does to find its descendants.
 */
final class Programs {
    /** How many a group may run whatever the others do. */
    static final int OWN = 4;

    private static final int SHARED_LEAST = 32;
    private static final int SHARED_PER_PROCESSOR = 16;
    private static final long IDLE_SECONDS = 30;
    private static final Programs OF_THIS_PROCESS =
            new Programs(sharedBy(Runtime.getRuntime().availableProcessors()));

    private final int shared;
    private final ThreadPoolExecutor worker;
    private final Map<String, Group> groups = new LinkedHashMap<>(); // worker only
    private int sharedTaken; // worker only

    /** Those of one backend. Worker only. */
    private static final class Group {
        private final Queue<Program> waiting = new ArrayDeque<>();
        private int running;
    }

    /** With so many turns for all. */
    Programs(int shared) {
        this.shared = shared;
        worker = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "tidegate-health-exec");
            thread.setDaemon(true);
            return thread;
        });
        // Made with the first program, and gone when there have been none for a while.
        worker.allowCoreThreadTimeOut(true);
    }

    /** Those of this process. */
    static Programs ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    /** How many all groups share on a machine with so many processors. */
    static int sharedBy(int processors) {
        return Math.max(SHARED_LEAST, SHARED_PER_PROCESSOR * processors);
    }

    /** Who is told of a program, on the thread of programs. */
    interface Audience {
        /** Its turn has come. */
        void onTurn();

        /** It has ended, or cannot be started. Once, and never after it was cancelled there. */
        void onEnd(Finding finding);
    }

    /**
     * Runs one when its turn comes.
     *
     * @param group whose turns it takes
     */
    Program run(String group, List<String> command, Map<String, String> environment, Audience audience) {
        Program program = new Program(group, command, environment, audience);
        worker.execute(() -> {
            groups.computeIfAbsent(group, first -> new Group()).waiting.add(program);
            startWaiting();
        });
        return program;
    }

    /** Waits until all that were cancelled before have been killed, at most so long. */
    boolean awaitKills(long millis) throws InterruptedException {
        if (!hasThread()) {
            return true; // no program for a while, and no thread is made to say so
        }
        CountDownLatch done = new CountDownLatch(1);
        worker.execute(done::countDown);
        return done.await(millis, TimeUnit.MILLISECONDS);
    }

    boolean hasThread() {
        return worker.getPoolSize() > 0;
    }

    private void startWaiting() {
        for (Optional<Group> next = next(); next.isPresent(); next = next()) {
            Group group = next.get();
            if (group.waiting.remove().start(group)) {
                sharedTaken += group.running >= OWN ? 1 : 0;
                group.running++;
            }
        }
        groups.values().removeIf(group -> group.running == 0 && group.waiting.isEmpty());
    }

    private Optional<Group> next() {
        return groups.values().stream()
                .filter(group -> !group.waiting.isEmpty() && (group.running < OWN || sharedTaken < shared))
                .min(Comparator.comparingInt(group -> group.running));
    }

    private void onEnded(Group group) {
        group.running--;
        sharedTaken -= group.running >= OWN ? 1 : 0;
        startWaiting();
    }

    /** One program. */
    final class Program {
        /** Of what it writes, the end is kept. */
        static final int KEPT_BYTES = 64 * 1024;

        private static final int NOT_READY = 75;
        /** By these a shell, {@code env}, {@code timeout} and the like say that there is no such program, or none that runs. */
        private static final int NOT_EXECUTABLE = 126;

        private static final int NOT_FOUND = 127;
        private static final int SIGNALLED = 128;
        private static final int SIGNAL_MAX = 64;
        private static final int LOOKS_MAX = 100;
        private static final long LOOK_AGAIN_MILLIS = 2;
        private static final int MUCH_BYTES = 16 * 1024;
        private static final long DRAIN_MILLIS = 50;
        private static final long DRAIN_MUCH_MILLIS = 5;
        /** {@code Cannot run program "/x": error=2, No such file or directory}; newer: {@code error: 2 (No such …)}. */
        private static final Pattern REASON = Pattern.compile("error[=:] ?\\d+,? \\(?([^()]+)");

        private final String name;
        private final List<String> command;
        private final Map<String, String> environment;
        private final Audience audience;
        private final ByteArrayOutputStream output = new ByteArrayOutputStream(); // worker only
        private Process process; // worker only
        private Group group; // worker only
        private boolean cancelled; // worker only
        private volatile String stage; // writer: worker

        Program(String name, List<String> command, Map<String, String> environment, Audience audience) {
            this.name = name;
            this.command = command;
            this.environment = environment;
            this.audience = audience;
            stage = "turn for the program, as each backend may run " + OWN + " at a time, and all share " + shared
                    + " beyond that";
        }

        /** What was awaited last. */
        String stage() {
            return "no " + stage;
        }

        /** Kills it, or has it never start. Nothing is told from then on. Any thread. */
        void cancel() {
            worker.execute(() -> {
                cancelled = true;
                if (process != null) {
                    kill();
                } else if (groups.containsKey(name)) {
                    groups.get(name).waiting.remove(this);
                    startWaiting();
                }
            });
        }

        private void kill() {
            // First, for those of a dead parent are another's.
            List<ProcessHandle> descendants = process.descendants().toList();
            process.destroyForcibly();
            descendants.forEach(ProcessHandle::destroyForcibly);
        }

        private boolean start(Group whose) {
            group = whose;
            audience.onTurn();
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
            builder.environment().putAll(environment);
            try {
                process = builder.start();
            } catch (IOException | RuntimeException e) {
                audience.onEnd(Finding.voided("cannot start " + Printable.line(command.get(0)) + ": " + reasonOf(e)));
                return false;
            }
            stage = "end of the program";
            process.onExit().thenRun(() -> worker.execute(() -> onExit(0)));
            later(DRAIN_MILLIS, this::drain);
            return true;
        }

        private static String reasonOf(Exception fault) {
            String message = String.valueOf(fault.getMessage());
            Matcher reason = REASON.matcher(message);
            return Printable.line(reason.find() ? reason.group(1) : message);
        }

        /** What it writes is taken away as it comes: a pipe holds 64 KiB, and with it full a program stands still. */
        private void drain() {
            if (!process.isAlive()) {
                return; // the rest is read at its end
            }
            int read;
            try {
                read = readAvailable();
            } catch (IOException e) {
                return; // it has ended just now, as in onExit
            }
            later(read >= MUCH_BYTES ? DRAIN_MUCH_MILLIS : DRAIN_MILLIS, this::drain);
        }

        /** Not more: a descendant that has the pipe still open is not waited for. */
        private int readAvailable() throws IOException {
            InputStream in = process.getInputStream();
            byte[] bytes = in.readNBytes(in.available());
            output.writeBytes(bytes);
            if (output.size() > 2 * KEPT_BYTES) {
                byte[] all = output.toByteArray();
                output.reset();
                output.write(all, all.length - KEPT_BYTES, KEPT_BYTES);
            }
            return bytes.length;
        }

        private void later(long millis, Runnable step) {
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, worker)
                    .execute(step);
        }

        private void onExit(int looks) {
            if (!cancelled) {
                try {
                    readAvailable();
                } catch (IOException e) {
                    if (looks < LOOKS_MAX) {
                        // The JDK is just about to put the last of the output by, and closes the pipe meanwhile.
                        later(LOOK_AGAIN_MILLIS, () -> onExit(looks + 1));
                        return;
                    }
                    output.writeBytes(
                            ("(its output cannot be read: " + e.getMessage() + ")").getBytes(StandardCharsets.UTF_8));
                }
                audience.onEnd(judge(process.exitValue(), lastLine(output.toString(StandardCharsets.UTF_8))));
            }
            onEnded(group);
            closeOutput();
        }

        private void closeOutput() {
            try {
                process.getInputStream().close();
            } catch (IOException e) {
                throw new UncheckedIOException("a pipe of a program that has ended cannot be closed", e);
            }
        }

        private static Finding judge(int exit, String lastLine) {
            boolean signalled = exit > SIGNALLED && exit <= SIGNALLED + SIGNAL_MAX;
            String detail = "exit code " + exit
                    + (signalled ? " (killed by signal " + (exit - SIGNALLED) + ")" : "")
                    + (lastLine.isEmpty() ? "" : ": " + lastLine);
            return switch (exit) {
                case 0 -> Finding.pass(detail);
                case NOT_READY -> Finding.notReady(detail);
                case NOT_EXECUTABLE, NOT_FOUND -> Finding.voided("cannot run it: " + detail);
                default -> Finding.fail(detail);
            };
        }

        private static String lastLine(String output) {
            List<String> lines = output.lines().filter(line -> !line.isBlank()).toList();
            return lines.isEmpty() ? "" : Printable.line(lines.get(lines.size() - 1));
        }
    }
}
