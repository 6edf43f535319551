package dev.tidegate.fitness;

import java.time.Instant;

/**
 * What is thought of an endpoint besides its checks. Immutable.
 *
 * @param ejectedUntil null when it is not ejected
 * @param ejectedWhy null when it is not ejected
 * @param ejections how often it was ejected, as far as that is not forgiven
 * @param breaker null when it has none
 * @param breakerUntil when an open breaker becomes half open; null otherwise
 */
public record Standing(
        Instant ejectedUntil, String ejectedWhy, int ejections, BreakerState breaker, Instant breakerUntil) {
    /** Where a breaker stands. */
    public enum BreakerState {
        /** The endpoint is dialed. */
        CLOSED,
        /** It is not dialed. */
        OPEN,
        /** It is tried by a few connects. */
        HALF_OPEN;

        private final String word = name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');

        /** The word that logs and the admin API show. */
        public String word() {
            return word;
        }
    }

    static final Standing GOOD = new Standing(null, null, 0, null, null);
}
