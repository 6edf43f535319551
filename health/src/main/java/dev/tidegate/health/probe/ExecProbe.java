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
 * A program: exit code 0 passes, 75 (EX_TEMPFAIL) is "not ready", any other fails. No shell is between. One that cannot be
 * started says nothing about the target. Immutable.
 *
 * <p>It gets the environment and the working directory of this process, no input, and
 *
 * <ul>
 *   <li>{@code TIDEGATE_BACKEND} and {@code TIDEGATE_ENDPOINT}, the target's names;
 *   <li>{@code TIDEGATE_ADDRESS}, its configured address, HOST:PORT;
 *   <li>{@code TIDEGATE_HOST} and {@code TIDEGATE_PORT}, the IP address (an IPv6 one without brackets) and the port to check.
 * </ul>
 *
 * <p>The last line of its output, standard and error, is told along. All that it writes must fit into a pipe, which on Linux
 * takes 64 KiB: a program that writes more stands still until it is cancelled. Cancelling kills it and its descendants. At
 * most 16 programs run at a time, in all of this process; others wait, and what they wait is part of their time-out.
 *
 * @param command the program and its arguments
 */
public record ExecProbe(List<String> command) implements Probe {
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

    @Override
    public Run start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
        Execution execution = new Execution(context, done);
        execution.program = Programs.shared().run(command, environment(context.subject(), address), execution::post);
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

    /** Confined to the loop, but for {@link #post}. */
    private static final class Execution implements Run {
        private final ProbeContext context;
        private final Consumer<Finding> done;
        private Programs.Program program;
        private volatile boolean over; // writer: the loop; without one, the thread of programs

        Execution(ProbeContext context, Consumer<Finding> done) {
            this.context = context;
            this.done = done;
        }

        /** Any thread. */
        void post(Finding finding) {
            try {
                context.loop().execute(() -> tell(finding));
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
        public String cancel() {
            if (!over) {
                over = true;
                program.cancel();
            }
            return program.stage();
        }
    }
}
