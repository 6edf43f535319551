package dev.tidegate.protocol;

/** Where one direction of an HTTP/1 connection stands within its present message (RFC 9112, section 2.1). Immutable. */
enum Phase {
    /** Between messages: before the first byte of the next. */
    START(Part.STOP),
    /** Behind the CR of an empty line that stands before a request line. */
    EMPTY_LINE_LF(Part.FRAMING),
    /** In a request's method. */
    METHOD(Part.HEAD),
    /** In a request's target. */
    TARGET(Part.HEAD),
    /** In the version, of a request line or a status line. */
    VERSION(Part.HEAD),
    /** In the three digits of a status, or behind them. */
    STATUS(Part.HEAD),
    /** Behind the CR of a line of the head, or of a trailer. */
    LINE_LF(Part.HEAD),
    /** Before the first byte of a field line. */
    LINE_START(Part.HEAD),
    /** In a field's name. */
    NAME(Part.HEAD),
    /** In a value of no interest, or in a status line's reason. */
    VALUE(Part.HEAD),
    /** In the value of Content-Length. */
    LENGTHS(Part.HEAD),
    /** In the value of Transfer-Encoding. */
    CODINGS(Part.HEAD),
    /** In the value of Connection. */
    OPTIONS(Part.HEAD),
    /** The next byte is the CR of the blank line that ends the head. */
    BLANK(Part.HEAD_STOP),
    /** Behind the CR of the blank line. */
    BLANK_LF(Part.HEAD),
    /** The head is whole; how the body is framed is not settled. */
    HEAD(Part.HEAD_STOP),
    /** In a body of known length. */
    FIXED(Part.CONTENT),
    /** In the size of a chunk. */
    CHUNK_SIZE(Part.FRAMING),
    /** In white space behind the size. */
    CHUNK_PAD(Part.FRAMING),
    /** In the extensions of a chunk. */
    CHUNK_EXTENSIONS(Part.FRAMING),
    /** Behind the CR of a chunk's first line. */
    CHUNK_SIZE_LF(Part.FRAMING),
    /** In the data of a chunk. */
    CHUNK_DATA(Part.CONTENT),
    /** Behind the data of a chunk. */
    CHUNK_DATA_CR(Part.FRAMING),
    /** Behind the CR that follows the data of a chunk. */
    CHUNK_DATA_LF(Part.FRAMING),
    /** Behind the CR of the blank line that ends the trailers. */
    TRAILERS_LF(Part.FRAMING),
    /** In a body that only the end of the connection ends. */
    UNTIL_CLOSE(Part.CONTENT),
    /** Not HTTP/1, or not surely so. Nothing leads out of it. */
    INVALID(Part.STOP);

    private enum Part {
        STOP,
        HEAD,
        HEAD_STOP,
        FRAMING,
        CONTENT
    }

    /** Whether the reader stops here and lets its caller decide. */
    final boolean stops;

    /** Whether this is within a head, or, for the phases that lines share, within trailers. */
    final boolean head;

    /** Whether bytes are looked at here, and count against the longest head; else they are skipped. */
    final boolean looks;

    Phase(Part part) {
        stops = part == Part.STOP || part == Part.HEAD_STOP;
        head = part == Part.HEAD || part == Part.HEAD_STOP;
        looks = part != Part.CONTENT;
    }
}
