package dev.tidegate.health;

import java.util.Comparator;
import java.util.TreeSet;

/**
 * Checks that are to start: some later, some as soon as the pace allows. Of these the most urgent is first, the one that would
 * soonest be late by its own rhythm (earliest deadline first), so that thousands of new targets with a long interval hold up
 * none with a short one. Confined to the checks' loop; pure.
 */
final class Agenda {
    // Times of StallProofTime start at 0 and do not wrap, so that they compare as numbers.
    private final TreeSet<Check> later =
            new TreeSet<>(Comparator.comparingLong(Check::dueNanos).thenComparingInt(Check::number));
    private final TreeSet<Check> due =
            new TreeSet<>(Comparator.comparingLong(Check::lateFromNanos).thenComparingInt(Check::number));

    /** It is to start when it is due; for that it is not there yet. */
    void add(Check check) {
        later.add(check);
    }

    void remove(Check check) {
        if (!later.remove(check)) {
            due.remove(check);
        }
    }

    boolean contains(Check check) {
        return later.contains(check) || due.contains(check);
    }

    /** Takes the most urgent one; null: none is due. */
    Check poll(long nowNanos) {
        while (!later.isEmpty() && later.first().dueNanos() <= nowNanos) {
            due.add(later.pollFirst());
        }
        return due.pollFirst();
    }

    /** For how long nothing is due, {@link StallProofTime#FOREVER} when there is nothing; 0 or less: something is. */
    long untilDueNanos(long nowNanos) {
        if (!due.isEmpty()) {
            return 0;
        }
        return later.isEmpty() ? StallProofTime.FOREVER : later.first().dueNanos() - nowNanos;
    }
}
