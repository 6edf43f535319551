package dev.tidegate.config;

/**
 * How many attempts after a connection's first a backend allows. Immutable.
 *
 * @param ratioPercent of new connections; 0..1000
 * @param minPerSecond allowed in any case; 0..1,000,000
 */
public record RetryBudgetConfig(int ratioPercent, int minPerSecond) {
    /** What holds when nothing is configured. */
    public static final RetryBudgetConfig DEFAULT = new RetryBudgetConfig(20, 10);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public RetryBudgetConfig {
        IntRange.RETRY_RATIO.require("retry-budget ratio", ratioPercent);
        IntRange.RETRY_MIN_PER_SECOND.require("retry-budget min-per-second", minPerSecond);
    }
}
