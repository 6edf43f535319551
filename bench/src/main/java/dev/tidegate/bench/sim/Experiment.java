package dev.tidegate.bench.sim;

/** One thing to find out. */
interface Experiment {
    /** Finds out. */
    Section run(Scale scale);
}
