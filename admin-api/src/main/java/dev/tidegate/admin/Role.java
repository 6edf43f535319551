package dev.tidegate.admin;

import java.util.Locale;

/** What a caller may do; each may do what those before it may. */
enum Role {
    /** Nobody known: what is open to all. */
    ANYONE,
    /** Reads. */
    VIEWER,
    /** And moves load: drain, disable, weight, rebalance, close connections. */
    OPERATOR,
    /** And changes what is configured: endpoints, reload, log level. */
    ADMIN;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The word in token files, documents and the log. */
    String word() {
        return word;
    }

    boolean covers(Role needed) {
        return compareTo(needed) >= 0;
    }
}
