package dev.tidegate.health;

import java.util.ArrayDeque;
import java.util.List;

/** The last verdicts about one target. Written on the checks' loop, read by any thread. */
final class History {
    static final int KEPT = 20;

    private final ArrayDeque<Verdict> verdicts = new ArrayDeque<>(KEPT + 1);

    synchronized void add(Verdict verdict) {
        verdicts.addLast(verdict);
        if (verdicts.size() > KEPT) {
            verdicts.removeFirst();
        }
    }

    /** Oldest first. */
    synchronized List<Verdict> list() {
        return List.copyOf(verdicts);
    }
}
