package dev.tidegate.model;

import java.util.Locale;

/** What a frontend looks for in the bytes that pass, as configured: what is looked for, not what was found. */
public enum ProtocolChoice {
    /** HTTP/1 and HTTP/2, whichever both sides show. */
    AUTO,
    /** Nothing: every connection is opaque, and watching costs nothing. */
    TCP,
    /** HTTP/1 only. */
    HTTP1,
    /** HTTP/2 only. */
    HTTP2;

    /** The configuration's word. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether HTTP/1 is looked for. */
    public boolean http1() {
        return this == AUTO || this == HTTP1;
    }

    /** Whether HTTP/2 is looked for. */
    public boolean http2() {
        return this == AUTO || this == HTTP2;
    }
}
