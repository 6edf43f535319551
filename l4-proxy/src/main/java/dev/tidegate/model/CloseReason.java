package dev.tidegate.model;

import java.util.Locale;

/**
 * Why a connection ended. A closed vocabulary: the same word stands in the access log, in the metrics, in the admin API
 * and in tests. Every connection has exactly one; the first wins.
 *
 * <p>Immutable.
 */
public enum CloseReason {
    /** The client ended its direction first, and the other direction then ended in order. */
    CLIENT_CLOSED,
    /** The endpoint ended its direction first, and the other direction then ended in order. */
    ENDPOINT_CLOSED,
    /** The client sent a reset, or writing to it failed. */
    CLIENT_RESET,
    /** The endpoint sent a reset, or writing to it failed. */
    ENDPOINT_RESET,
    /** No byte moved in either direction for the idle timeout. */
    IDLE,
    /** One direction had ended and the other stayed silent for the half-closed timeout. */
    HALF_CLOSED_TIMEOUT,
    /** Sent bytes stayed unacknowledged, or keepalive probes unanswered, for too long. */
    UNACKED,
    /** Retired: its age reached the limit. */
    MAX_AGE,
    /** Retired: its requests reached the limit. */
    MAX_REQUESTS,
    /** Retired: its bytes reached the limit. */
    MAX_BYTES,
    /** Retired: its endpoint, backend or frontend was drained. */
    DRAIN,
    /** Retired: its endpoint held more than its fair share. */
    REBALANCE,
    /** Retired: the process stops. */
    SHUTDOWN,
    /** Retired: its endpoint was marked down. */
    ENDPOINT_DOWN,
    /** Retired: its endpoint was removed. */
    ENDPOINT_REMOVED,
    /** Ended by an operator, by its id. */
    KILLED,
    /** There was no candidate to pick. */
    NO_ENDPOINT,
    /** The last attempt was refused. */
    DIAL_REFUSED,
    /** The last attempt, or all of them together, took too long. */
    DIAL_TIMEOUT,
    /** The last attempt failed in another way: no source port, unreachable. */
    DIAL_FAILED,
    /** A connection limit was reached. */
    REJECTED_LIMIT,
    /** A rate limit was reached. */
    REJECTED_RATE,
    /** A rule refused the client. */
    REJECTED_RULE,
    /** The PROXY header was missing, late or invalid. */
    PROXY_HEADER,
    /** Shed, to keep the process alive. */
    OVERLOAD,
    /** A fault of our own. */
    INTERNAL_ERROR;

    private final String word = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** The word as logs, metrics and the API show it, such as {@code client-closed}. */
    public String word() {
        return word;
    }

    @Override
    public String toString() {
        return word;
    }
}
