package dev.tidegate.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Collects problems. Confined to the thread that reads. Past a bound it only counts: nobody reads a million lines. */
final class Problems {
    static final int KEPT_MAX = 1_000;

    private static final int HINTED_MAX = 100;

    private final List<Placed> placed = new ArrayList<>();
    private boolean errors;

    private record Placed(Mark mark, Problem problem) {}

    void error(Mark mark, KeyPath path, String message, String hint) {
        errors = true;
        add(mark, path, message, hint, Problem.Severity.ERROR);
    }

    void error(Mark mark, KeyPath path, InvalidValue refusal) {
        error(mark, path, refusal.getMessage(), refusal.hint());
    }

    void warning(Mark mark, KeyPath path, String message, String hint) {
        add(mark, path, message, hint, Problem.Severity.WARNING);
    }

    private void add(Mark mark, KeyPath path, String message, String hint, Problem.Severity severity) {
        if (isFull()) {
            return;
        }
        boolean last = placed.size() == KEPT_MAX - 1;
        Problem problem = last
                ? new Problem(
                        mark.file(),
                        mark.line(),
                        mark.column(),
                        "",
                        "there are more than " + KEPT_MAX + " problems",
                        "mend those listed first",
                        Problem.Severity.ERROR)
                : new Problem(mark.file(), mark.line(), mark.column(), path.toString(), message, hint, severity);
        errors |= last;
        placed.add(new Placed(mark, problem));
    }

    /** Whether another problem would be dropped, so that looking on is in vain. */
    boolean isFull() {
        return placed.size() >= KEPT_MAX;
    }

    /** Whether there are still so few that looking long for a hint is worth it. */
    boolean isHintWorthIt() {
        return placed.size() < HINTED_MAX;
    }

    boolean hasErrors() {
        return errors;
    }

    /** All of them in file order. */
    List<Problem> inFileOrder() {
        return placed.stream()
                .sorted(Comparator.comparing(Placed::mark))
                .map(Placed::problem)
                .toList();
    }
}
