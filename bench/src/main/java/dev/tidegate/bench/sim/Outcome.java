package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.Series;

/**
 * What a run of a {@link Farm} gave; times in seconds.
 *
 * @param sojourn from arrival to end, mean
 * @param sojournError the standard error of that, from the means of 20 batches
 * @param waiting from arrival to the begin of work, mean
 * @param waitsNanos every wait, sorted; empty where they were not kept
 * @param tail the chance of so many jobs or more at a server, by how many
 * @param present jobs in the whole system, mean over time
 * @param arrivalsPerSecond as they came
 * @param events that happened
 */
record Outcome(
        double sojourn,
        double sojournError,
        double waiting,
        Series waitsNanos,
        Series tail,
        double present,
        double arrivalsPerSecond,
        long events) {
    /** The wait that a share of all jobs had at most, in milliseconds. */
    double waitMillis(double share) {
        return waitsNanos.at(Math.min(waitsNanos.size() - 1, (int) (share * waitsNanos.size()))) / 1e6;
    }

    /** By how much L differs from λW, as a share: Little's law holds for every system, so this checks the simulator. */
    double littleError() {
        return Math.abs(present / (arrivalsPerSecond * sojourn) - 1);
    }
}
