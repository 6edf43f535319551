package dev.tidegate.health;

/** Is told what checks find. Called on the checks' loop; must not block. */
public interface HealthListener {
    /**
     * A check has ended.
     *
     * @param id the target's
     * @param before its condition before this check
     * @param verdict what was found, and its condition now
     */
    void onVerdict(String id, Condition before, Verdict verdict);

    /**
     * A check starts, and more than its interval after it was due: there are too many for the time.
     *
     * @param id the target's
     * @param lateNanos after it was due
     */
    default void onLate(String id, long lateNanos) {}
}
