package dev.tidegate.model;

import java.util.Locale;

/**
 * What an endpoint did to a connection that speaks against it. What a client did, or what is wrong on this host, is none
 * of these.
 */
public enum Failure {
    /** Its host answered a connect with a reset. */
    REFUSED,
    /** A connect had no answer within {@code connect.timeout}. */
    TIMEOUT,
    /** There was no way to it. */
    UNREACHABLE,
    /** It reset the connection before its first byte, with the client still there. */
    RESET,
    /** It had the client's first bytes, and did not begin to answer within {@code outlier.first-byte}. */
    SILENT;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The word that logs, metrics and the admin API show. */
    public String word() {
        return word;
    }

    /** Whether it is the connect that failed. */
    public boolean ofConnect() {
        return this == REFUSED || this == TIMEOUT || this == UNREACHABLE;
    }
}
