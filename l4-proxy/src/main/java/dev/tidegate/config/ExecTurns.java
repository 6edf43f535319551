package dev.tidegate.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Whether the programs of exec checks have room for the worst: that each takes its whole time-out. Confined to the thread
 * that reads.
 */
final class ExecTurns {
    /** What a backend may run at a time whatever the others do; as {@code health} does it, which a test sees to. */
    static final int OWN = 4;

    private final Problems problems;
    private final int shared;
    private final List<Need> needs = new ArrayList<>();

    /** So many programs of that backend run at a time. */
    private record Need(Located<?> place, int programs) {
        int beyondOwn() {
            return Math.max(0, programs - OWN);
        }
    }

    /** On a machine with so many processors. */
    ExecTurns(Problems problems, int processors) {
        this.problems = problems;
        this.shared = shared(processors);
    }

    /** What all backends may run at a time beyond their own; as {@code health} does it. */
    static int shared(int processors) {
        return Math.max(32, 16 * processors);
    }

    void add(Values health, int endpoints) {
        Optional<Duration> interval = health.value(HealthKeys.INTERVAL);
        Optional<Duration> timeout = health.value(HealthKeys.TIMEOUT);
        Optional<? extends Located<?>> command = health.given(HealthKeys.COMMAND);
        boolean exec = health.value(HealthKeys.TYPE).equals(Optional.of(CheckType.EXEC));
        if (exec && interval.isPresent() && timeout.isPresent() && command.isPresent()) {
            // An endpoint's checks never overlap.
            double share = Math.min(
                    1, (double) timeout.get().toNanos() / interval.get().toNanos());
            needs.add(new Need(command.get(), (int) Math.ceil(endpoints * share)));
        }
    }

    void run() {
        int beyond = needs.stream().mapToInt(Need::beyondOwn).sum();
        if (beyond <= shared) {
            return;
        }
        Located<?> most = needs.stream()
                .max(Comparator.comparingInt(Need::programs))
                .orElseThrow()
                .place();
        int all = needs.stream().mapToInt(Need::programs).sum();
        problems.warning(
                most.mark(),
                most.path(),
                "if every program took its whole time-out, " + all + " would run at a time; here each backend may run "
                        + OWN + ", and all share " + shared + " beyond that, so that checks would wait, or not be made",
                "make health.timeout shorter or health.interval longer");
    }
}
