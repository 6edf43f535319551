package dev.tidegate.config;

import java.time.Duration;

/**
 * What becomes of connections that an endpoint has above its fair share. Immutable.
 *
 * @param onJoin whether they are retired when an endpoint joins or comes back; an operator may always ask for it
 * @param spread over which their ends begin; 0 to 7 days
 * @param maxSharePercent how much of its fair share an endpoint keeps; 100..1000
 */
public record RebalanceConfig(boolean onJoin, Duration spread, int maxSharePercent) {
    /** What holds when nothing is configured. */
    public static final RebalanceConfig DEFAULT = new RebalanceConfig(false, Duration.ofMinutes(2), 110);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public RebalanceConfig {
        DurationRange.REBALANCE_SPREAD.require("rebalance spread", spread);
        IntRange.MAX_SHARE.require("rebalance max-share", maxSharePercent);
    }
}
