package dev.tidegate.model;

/** How a backend spreads its connections. Immutable. */
public enum BalancePolicy {
    /** In turn, by weight, interleaved. */
    ROUND_ROBIN,
    /** By chance, by weight. */
    RANDOM,
    /** The least loaded of all. */
    LEAST_CONNECTIONS,
    /** The less loaded of two drawn by weight. */
    POWER_OF_TWO
}
