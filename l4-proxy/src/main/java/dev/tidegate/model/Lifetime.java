package dev.tidegate.model;

/**
 * How long a connection of a frontend may live, and how it is brought to its end. Immutable.
 *
 * @param maxAgeNanos from accept to the soft limit, before jitter; at least 1 and at most a quarter of what a long holds
 *     (73 years), or {@link #UNLIMITED}
 * @param jitter by what share of its age a connection's soft limit may fall earlier or later, 0 to 1
 * @param maxRequests after how many requests it is retired, at least 1; {@link #UNLIMITED} for no limit
 * @param maxBytes after how many bytes, both directions together, it is retired, at least 1; {@link #UNLIMITED} for no
 *     limit
 * @param graceNanos from the soft limit to the hard one; not negative
 * @param quietNanos the least silence that lets a connection be ended whose bytes cannot be understood; above 0
 * @param lingerNanos how long a client that was sent FIN is still read from; not negative
 */
public record Lifetime(
        long maxAgeNanos,
        double jitter,
        long maxRequests,
        long maxBytes,
        long graceNanos,
        long quietNanos,
        long lingerNanos) {
    /**
     * No limit. For counts it needs no special case: they never come to it. Of a time it has to be asked for by
     * {@code ==} before any arithmetic, because times are compared by subtraction and those of a ticker may be negative.
     */
    public static final long UNLIMITED = Long.MAX_VALUE;

    private static final long SECOND = 1_000_000_000L;
    private static final long LONGEST_NANOS = Long.MAX_VALUE / 4;
    private static final double LEAST_SHARE_OF_AGE = 0.05;

    /** What holds when nothing is configured: no limits, jitter 20 %, grace 5 m, quiet 5 s, linger 2 s. */
    public static final Lifetime DEFAULT =
            new Lifetime(UNLIMITED, 0.2, UNLIMITED, UNLIMITED, 300 * SECOND, 5 * SECOND, 2 * SECOND);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public Lifetime {
        require(maxAgeNanos == UNLIMITED || isLength(maxAgeNanos, 1), "maxAgeNanos", maxAgeNanos);
        require(jitter >= 0 && jitter <= 1, "jitter", jitter);
        require(maxRequests >= 1, "maxRequests", maxRequests);
        require(maxBytes >= 1, "maxBytes", maxBytes);
        require(isLength(graceNanos, 0), "graceNanos", graceNanos);
        require(isLength(quietNanos, 1), "quietNanos", quietNanos);
        require(isLength(lingerNanos, 0), "lingerNanos", lingerNanos);
    }

    private static boolean isLength(long nanos, long least) {
        return nanos >= least && nanos <= LONGEST_NANOS;
    }

    private static void require(boolean inRange, String name, Number value) {
        if (!inRange) {
            throw new IllegalArgumentException(name + " " + value + " is out of range");
        }
    }

    /** Whether age ends a connection. */
    public boolean limitsAge() {
        return maxAgeNanos != UNLIMITED;
    }

    /** Whether the number of requests ends a connection. */
    public boolean limitsRequests() {
        return maxRequests != UNLIMITED;
    }

    /** Whether the number of bytes ends a connection. */
    public boolean limitsBytes() {
        return maxBytes != UNLIMITED;
    }

    /**
     * The age at which one connection reaches its soft limit: max-age × (1 + draw × jitter), and never less than 5 % of
     * max-age.
     *
     * @param draw the connection's own, in [-1, 1)
     * @return in nanoseconds, at least 1 and at most twice max-age; {@link #UNLIMITED} when age is not limited
     */
    public long softAgeNanos(double draw) {
        if (!limitsAge()) {
            return UNLIMITED;
        }
        double share = Math.max(LEAST_SHARE_OF_AGE, 1 + draw * jitter);
        return Math.max(1, Math.round(maxAgeNanos * share));
    }

    /**
     * When one connection reaches its soft limit by age. The sum may wrap, as times of a ticker do, and then still
     * compares rightly by subtraction with any time within 146 years; it is never {@link #UNLIMITED} by accident.
     *
     * @param acceptedNanos when it was accepted, in the ticker's time
     * @param draw the connection's own, drawn once, in [-1, 1)
     * @return in the ticker's time; {@link #UNLIMITED} when age is not limited
     */
    public long softNanos(long acceptedNanos, double draw) {
        if (!limitsAge()) {
            return UNLIMITED;
        }
        long soft = acceptedNanos + softAgeNanos(draw);
        return soft == UNLIMITED ? UNLIMITED - 1 : soft;
    }

    /**
     * When a connection that reached its soft limit then must end.
     *
     * @param softNanos in the ticker's time, or {@link #UNLIMITED}
     * @return in the ticker's time; {@link #UNLIMITED} when there is no soft limit
     */
    public long hardNanos(long softNanos) {
        if (softNanos == UNLIMITED) {
            return UNLIMITED;
        }
        long hard = softNanos + graceNanos;
        return hard == UNLIMITED ? UNLIMITED - 1 : hard;
    }
}
