package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The programs that checks run: some at a time, the others wait for their turn. Any thread; the work is done on one of its
 * own, as to start a process takes milliseconds, and so does to find its descendants.
 */
final class Programs {
    static final int RUNNING_MAX = 16;

    private static final long IDLE_SECONDS = 30;
    private static final Programs SHARED = new Programs();

    private final ThreadPoolExecutor worker;
    private final Queue<Program> waiting = new ArrayDeque<>(); // worker only
    private int running; // worker only

    private Programs() {
        worker = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "tidegate-health-exec");
            thread.setDaemon(true);
            return thread;
        });
        // Made with the first program, and gone when there have been none for a while.
        worker.allowCoreThreadTimeOut(true);
    }

    /** Those of this process. */
    static Programs shared() {
        return SHARED;
    }

    /** Runs one when its turn comes; {@code ended} is told once, on the thread of programs, unless cancelled before. */
    Program run(List<String> command, Map<String, String> environment, Consumer<Finding> ended) {
        Program program = new Program(command, environment, ended);
        worker.execute(() -> {
            waiting.add(program);
            startWaiting();
        });
        return program;
    }

    private void startWaiting() {
        while (running < RUNNING_MAX && !waiting.isEmpty()) {
            if (waiting.remove().start()) {
                running++;
            }
        }
    }

    /** One program. */
    final class Program {
        private static final int NOT_READY = 75;
        private static final int SIGNALLED = 128;
        private static final int SIGNAL_MAX = 64;
        private static final int LOOKS_MAX = 100;
        private static final long LOOK_AGAIN_MILLIS = 2;
        /** {@code Cannot run program "/x": error=2, No such file or directory}; newer: {@code error: 2 (No such …)}. */
        private static final Pattern REASON = Pattern.compile("error[=:] ?\\d+,? \\(?([^()]+)");

        private final List<String> command;
        private final Map<String, String> environment;
        private final Consumer<Finding> ended;
        private Process process; // worker only
        private boolean cancelled; // worker only
        private volatile String stage = "turn for the program, as " + RUNNING_MAX + " others run"; // writer: worker

        Program(List<String> command, Map<String, String> environment, Consumer<Finding> ended) {
            this.command = command;
            this.environment = environment;
            this.ended = ended;
        }

        /** What was awaited last. */
        String stage() {
            return "no " + stage;
        }

        /** Kills it, or has it never start. Nothing is told from then on. Any thread. */
        void cancel() {
            worker.execute(() -> {
                cancelled = true;
                waiting.remove(this);
                if (process != null) {
                    kill();
                }
            });
        }

        private void kill() {
            // First, for those of a dead parent are another's.
            List<ProcessHandle> descendants = process.descendants().toList();
            process.destroyForcibly();
            descendants.forEach(ProcessHandle::destroyForcibly);
        }

        private boolean start() {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
            builder.environment().putAll(environment);
            try {
                process = builder.start();
            } catch (IOException | RuntimeException e) {
                ended.accept(Finding.voided("cannot start " + Printable.line(command.get(0)) + ": " + reasonOf(e)));
                return false;
            }
            stage = "end of the program";
            process.onExit().thenRun(() -> worker.execute(() -> onExit(0)));
            return true;
        }

        private static String reasonOf(Exception fault) {
            String message = String.valueOf(fault.getMessage());
            Matcher reason = REASON.matcher(message);
            return Printable.line(reason.find() ? reason.group(1) : message);
        }

        private void onExit(int looks) {
            if (!cancelled) {
                String output;
                try {
                    output = output();
                } catch (IOException e) {
                    if (looks < LOOKS_MAX) {
                        // The JDK is just about to put the last of the output by, and closes the pipe meanwhile.
                        CompletableFuture.delayedExecutor(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS, worker)
                                .execute(() -> onExit(looks + 1));
                        return;
                    }
                    output = "(its output cannot be read: " + e.getMessage() + ")";
                }
                ended.accept(judge(process.exitValue(), lastLine(output)));
            }
            running--;
            startWaiting();
            closeOutput();
        }

        /** What is there by now: a descendant that has the pipe still open is not waited for. */
        private String output() throws IOException {
            InputStream in = process.getInputStream();
            return new String(in.readNBytes(in.available()), StandardCharsets.UTF_8);
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
                default -> Finding.fail(detail);
            };
        }

        private static String lastLine(String output) {
            List<String> lines = output.lines().filter(line -> !line.isBlank()).toList();
            return lines.isEmpty() ? "" : Printable.line(lines.get(lines.size() - 1));
        }
    }
}
