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
}
