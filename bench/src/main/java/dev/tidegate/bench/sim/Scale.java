package dev.tidegate.bench.sim;

/**
 * How long experiments run. Immutable.
 *
 * @param seeds of experiments that are run again and again
 * @param share of the jobs of a whole run
 */
record Scale(int seeds, double share) {
    /** What documents are made of. */
    static final Scale WHOLE = new Scale(100, 1);

    /** Jobs, of so many in a whole run. */
    long jobs(double whole) {
        return Math.max(1000, Math.round(whole * share));
    }
}
