package dev.tidegate.fitness;

import dev.tidegate.model.Fitness.Unfit;
import java.util.Optional;

/**
 * How the endpoints of a backend are judged. Immutable; all times in nanoseconds, all shares in percent.
 *
 * @param checked whether endpoints are checked at all
 * @param initial why a new endpoint is not fit until its first check; empty: it is
 * @param outlier when one is ejected; empty: never
 * @param breaker when one is no longer dialed; empty: it always is
 * @param slowStart how the share of a new one grows; empty: it is whole at once
 * @param panic what happens when too few are fit
 */
public record FitnessPolicy(
        boolean checked,
        Optional<Unfit> initial,
        Optional<Outlier> outlier,
        Optional<Breaker> breaker,
        Optional<SlowStart> slowStart,
        Panic panic) {
    /**
     * When an endpoint is ejected.
     *
     * @param failuresInRow that eject it
     * @param failureRate of connections in one {@code interval} that ejects it; 0: the rate does not matter
     * @param leastConnections below so many in one {@code interval} the rate does not matter
     * @param intervalNanos over which the rate is taken
     * @param firstByteNanos an answer that begins later is a failure; 0: it is not
     * @param ejectionNanos how long the first ejection lasts; each further one lasts that much longer
     * @param maxEjectionNanos the longest that one lasts
     * @param maxEjected endpoints that are ejected, or have an open breaker, at a time
     */
    public record Outlier(
            int failuresInRow,
            int failureRate,
            int leastConnections,
            long intervalNanos,
            long firstByteNanos,
            long ejectionNanos,
            long maxEjectionNanos,
            int maxEjected) {}

    /**
     * When an endpoint is no longer dialed.
     *
     * @param failuresInRow connects that failed and open it
     * @param openNanos until it is tried again
     * @param trials connects under way at a time while it is tried
     */
    public record Breaker(int failuresInRow, long openNanos, int trials) {}

    /**
     * How the share of a new or recovered endpoint grows.
     *
     * @param windowNanos until it is whole
     * @param aggression 1 grows evenly, more than 1 faster at first
     * @param leastShare where it begins
     */
    public record SlowStart(long windowNanos, double aggression, int leastShare) {}

    /**
     * What happens when too few endpoints are fit.
     *
     * @param threshold below this share of fit endpoints the backend is in panic
     * @param spread whether unfit endpoints are candidates then
     */
    public record Panic(int threshold, boolean spread) {}

    /** The most endpoints that may be out at a time, in percent: what a breaker alone keeps to is the usual share. */
    int maxOut() {
        return outlier.map(Outlier::maxEjected).orElse(50);
    }
}
