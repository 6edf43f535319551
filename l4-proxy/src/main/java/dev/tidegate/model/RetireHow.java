package dev.tidegate.model;

import java.util.Locale;

/** How a retired connection was brought to its end. Immutable. */
public enum RetireHow {
    /** At a moment when nothing was under way. */
    QUIET,
    /** The client was told by GOAWAY. */
    GOAWAY,
    /** The client was told by {@code Connection: close} in its last response. */
    RESPONSE,
    /** The hard limit came first, or an operator asked for it. */
    CUT;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The word as logs and metrics show it. */
    public String word() {
        return word;
    }
}
