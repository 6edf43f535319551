package dev.tidegate.model;

import java.util.Locale;

/** What a connection turned out to speak. Immutable. */
public enum Protocol {
    /** Something that cannot be understood, or is not looked at: TLS, databases, anything. */
    TCP,
    /** HTTP/1.0 or HTTP/1.1, in the clear. */
    HTTP1,
    /** HTTP/2, in the clear. */
    HTTP2;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The word as logs and metrics show it. */
    public String word() {
        return word;
    }
}
