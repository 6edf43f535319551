package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * A program: exit code 0 passes, 75 (EX_TEMPFAIL) is "not ready", any other fails but 126 and 127. No shell is between. One that
 * cannot be started says nothing about the target; nor do exit codes 126 and 127, by which whatever runs another program says that
 * it cannot: a shell, {@code env}, or the system for a file of text without {@code #!}. Immutable.
 *
 * <p>It gets the environment and the working directory of this process, no input, and
 *
 * <ul>
 *   <li>{@code TIDEGATE_BACKEND} and {@code TIDEGATE_ENDPOINT}, the target's names;
 *   <li>{@code TIDEGATE_ADDRESS}, its configured address, HOST:PORT;
 *   <li>{@code TIDEGATE_HOST} and {@code TIDEGATE_PORT}, the IP address (an IPv6 one without brackets) and the port to check.
 * </ul>
 *
 * <p>The last line of its output, standard and error, is told along; of long output the last 64 KiB are looked at. Cancelling
 * kills it and its descendants.
 *
 * <p>A backend runs at most {@link #OWN} programs at a time, and beyond that all backends of this process share
 * {@link #sharedHere}. Others wait for their turn ({@link Run#isWaiting}).
 *
 * @param command the program and its arguments
 */
public record ExecProbe(List<String> command) implements Probe {
    /** How many programs a backend may run at a time, whatever the others do. */
    public static final int OWN = Programs.OWN;

    /** How many programs all backends may run at a time beyond their own, on this machine. */
    public static int sharedHere() {
        return Programs.sharedBy(Runtime.getRuntime().availableProcessors());
    }

    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException if it is empty
     */
    public ExecProbe {
        command = List.copyOf(command);
        if (command.isEmpty()) {
            throw new IllegalArgumentException("the command is empty; name a program");
        }
    }

    /**
     * Waits until the programs of all runs that were cancelled before are killed, so that none outlives this process.
     *
     * @return whether that was so within {@code millis}
     */
    public static boolean awaitKills(long millis) throws InterruptedException {
        return Programs.ofThisProcess().awaitKills(millis);
    }

    @Override
    public Run start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
        Execution execution = new Execution(context, done);
        execution.program = Programs.ofThisProcess()
                .run(context.subject().backend(), command, environment(context.subject(), address), execution);
        return execution;
    }

    private static Map<String, String> environment(ProbeContext.Subject subject, InetSocketAddress address) {
        return Map.of(
                "TIDEGATE_BACKEND", subject.backend(),
                "TIDEGATE_ENDPOINT", subject.endpoint(),
                "TIDEGATE_ADDRESS", subject.address(),
                "TIDEGATE_HOST", hostOf(address),
                "TIDEGATE_PORT", String.valueOf(address.getPort()));
    }

    private static String hostOf(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        return ip == null ? address.getHostString() : ip.getHostAddress();
    }

    /** Confined to the loop, but for what the thread of programs tells. */
    private static final class Execution implements Run, Programs.Audience {
        private final ProbeContext context;
        private final Consumer<Finding> done;
        private Programs.Program program;
        private boolean waiting = true;
        private volatile boolean over; // writer: the loop; without one, the thread of programs

        Execution(ProbeContext context, Consumer<Finding> done) {
            this.context = context;
            this.done = done;
        }

        @Override
        public void onTurn() {
            post(() -> {
                waiting = false;
                if (!over) {
                    context.watch().onTurn();
                }
            });
        }

        @Override
        public void onEnd(Finding finding) {
            post(() -> tell(finding));
        }

        private void post(Runnable step) {
            try {
                context.loop().execute(step);
            } catch (RejectedExecutionException e) {
                // The loop has ended, and with it whoever wanted to be told; and so has the program.
                over = true;
            }
        }

        private void tell(Finding finding) {
            if (!over) {
                over = true;
                done.accept(finding);
            }
        }

        @Override
        public boolean isWaiting() {
            return waiting;
        }

        @Override
        public String cancel() {
            if (!over) {
                over = true;
                program.cancel();
            }
            return program.stage();
        }
    }
}
