package dev.tidegate.health;

import java.util.Comparator;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Checks that are to start: some later, some as soon as the pace allows. Of these the most urgent is first: the one that would
 * soonest be late by its own rhythm (earliest deadline first), so that thousands of new targets with a long interval hold up
 * none with a short one. Where that is not enough, and some are late, the one that has waited longest by its own rhythm: with too
 * many checks for the time all are stretched alike, and an interval of 1 s becomes 3 s where one of 10 s becomes 30 s. Confined to
 * the checks' loop; pure.
 */
final class Agenda {
    // Times of StallProofTime start at 0 and do not wrap, so that they compare as numbers.
    private static final Comparator<Check> BY_DUE =
            Comparator.comparingLong(Check::dueNanos).thenComparingInt(Check::number);

    private final TreeSet<Check> later = new TreeSet<>(BY_DUE);
    /** By their rhythms, of which there are as many as settings, and not as targets; none is empty. */
    private final TreeMap<Long, TreeSet<Check>> due = new TreeMap<>();

    /** It is to start when it is due; for that it is not there yet. */
    void add(Check check) {
        later.add(check);
    }

    void remove(Check check) {
        if (!later.remove(check)) {
            removeDue(check);
        }
    }

    private void removeDue(Check check) {
        TreeSet<Check> same = due.get(check.rhythmNanos());
        if (same != null && same.remove(check) && same.isEmpty()) {
            due.remove(check.rhythmNanos());
        }
    }

    boolean contains(Check check) {
        TreeSet<Check> same = due.get(check.rhythmNanos());
        return later.contains(check) || (same != null && same.contains(check));
    }

    /** Takes the most urgent one; null: none is due. */
    Check poll(long nowNanos) {
        while (!later.isEmpty() && later.first().dueNanos() <= nowNanos) {
            Check check = later.pollFirst();
            due.computeIfAbsent(check.rhythmNanos(), first -> new TreeSet<>(BY_DUE))
                    .add(check);
        }
        Check most = null;
        for (TreeSet<Check> same : due.values()) {
            Check head = same.first();
            if (most == null || isMoreUrgent(head, most, nowNanos)) {
                most = head;
            }
        }
        if (most != null) {
            removeDue(most);
        }
        return most;
    }

    private static boolean isMoreUrgent(Check one, Check other, long nowNanos) {
        double lateOne = lateness(one, nowNanos);
        double lateOther = lateness(other, nowNanos);
        return Math.max(lateOne, lateOther) > 1
                ? lateOne > lateOther
                : one.dueNanos() + one.rhythmNanos() < other.dueNanos() + other.rhythmNanos();
    }

    /** In rhythms: from 1 on another check would be due. */
    private static double lateness(Check check, long nowNanos) {
        return (double) (nowNanos - check.dueNanos()) / check.rhythmNanos();
    }

    /** For how long nothing is due, {@link StallProofTime#FOREVER} when there is nothing; 0 or less: something is. */
    long untilDueNanos(long nowNanos) {
        if (!due.isEmpty()) {
            return 0;
        }
        return later.isEmpty() ? StallProofTime.FOREVER : later.first().dueNanos() - nowNanos;
    }
}
