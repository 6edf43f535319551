package dev.tidegate.model;

import java.util.Locale;

/** How one attempt to connect to an endpoint came out. Immutable. */
public enum ConnectResult {
    /** Connected. */
    OK,
    /** The endpoint's host answered with a reset. */
    REFUSED,
    /** No answer within {@code connect.timeout}, or within the kernel's own patience. */
    TIMEOUT,
    /** Anything else: no source port, no route, no descriptor. */
    FAILED,
    /** Given up by us: the client had gone, or the process stops. */
    CANCELLED;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The word as metrics show it. */
    public String word() {
        return word;
    }
}
