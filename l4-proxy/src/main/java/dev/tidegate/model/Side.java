package dev.tidegate.model;

import java.util.Locale;

/** One of the two sides of a connection. Immutable. */
public enum Side {
    /** Toward the client. */
    DOWNSTREAM,
    /** Toward the endpoint. */
    UPSTREAM;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The word as metrics show it. */
    public String word() {
        return word;
    }

    /** The other side. */
    public Side opposite() {
        return this == DOWNSTREAM ? UPSTREAM : DOWNSTREAM;
    }
}
