package dev.tidegate.bench.sim;

/** How long what is asked for takes: a distribution. Immutable. */
@FunctionalInterface
interface Work {
    /** A second in the unit of {@link Timeline}. */
    double SECOND = 1e9;

    /** Draws one, in seconds. */
    double seconds(Chance chance);

    /** The same in nanoseconds. */
    default long nanos(Chance chance) {
        return Math.round(seconds(chance) * SECOND);
    }

    /** Exponential. */
    static Work exponential(double meanSeconds) {
        return chance -> chance.exponential(meanSeconds);
    }

    /** Mostly short and sometimes long, each exponential. */
    static Work mixed(double shortSeconds, double longSeconds, double longShare) {
        return chance -> chance.exponential(chance.nextDouble() < longShare ? longSeconds : shortSeconds);
    }

    /** Pareto with that mean: a heavy tail, without a variance where {@code shape} is 2 or less. */
    static Work pareto(double meanSeconds, double shape) {
        double least = meanSeconds * (shape - 1) / shape;
        return chance -> least * StrictMath.pow(chance.share(), -1 / shape);
    }
}
