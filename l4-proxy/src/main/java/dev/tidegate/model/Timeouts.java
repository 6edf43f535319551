package dev.tidegate.model;

/**
 * What silence a connection of a frontend may keep. Immutable.
 *
 * @param idleNanos without progress either way; {@link #OFF} for no limit
 * @param halfClosedNanos without progress once one direction has ended; {@link #OFF} for no limit
 * @param unackedMillis for sent bytes to stay unacknowledged (TCP_USER_TIMEOUT); 0 for no limit
 */
public record Timeouts(long idleNanos, long halfClosedNanos, int unackedMillis) {
    /** No limit: about 146 years, so that adding it to a time does not overflow. */
    public static final long OFF = Long.MAX_VALUE / 2;
}
