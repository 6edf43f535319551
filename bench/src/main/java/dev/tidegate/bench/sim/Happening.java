package dev.tidegate.bench.sim;

/** What happens at a time on a {@link Timeline}. */
@FunctionalInterface
interface Happening {
    /** It is time. */
    void happen();
}
