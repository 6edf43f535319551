package dev.tidegate.protocol;

/** A type of HTTP/2 frame (RFC 9113 section 6), in the order of the codes. Immutable. */
enum FrameType {
    DATA,
    HEADERS,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    PUSH_PROMISE,
    PING,
    GOAWAY,
    WINDOW_UPDATE,
    CONTINUATION,
    /** Any other: an extension, which an intermediary that does not know it passes on (RFC 9113 section 5.5). */
    UNKNOWN;

    /** On DATA and HEADERS: the sender's last word on the stream. */
    static final int END_STREAM = 0x1;
    /** On SETTINGS and PING. */
    static final int ACK = 0x1;
    /** On HEADERS, PUSH_PROMISE and CONTINUATION: no CONTINUATION follows. */
    static final int END_HEADERS = 0x4;
    /** On PUSH_PROMISE (and DATA, HEADERS, where it matters to nobody here): the payload begins with a length of padding. */
    static final int PADDED = 0x8;

    private static final FrameType[] BY_CODE = values();

    static FrameType of(int code) {
        return code < UNKNOWN.ordinal() ? BY_CODE[code] : UNKNOWN;
    }

    int code() {
        return ordinal();
    }

    /**
     * Whether a frame of this type may look so. False where RFC 9113 sections 6.1 to 6.10 make it an error of the whole
     * connection: whoever sends such a frame does not speak HTTP/2, or no longer.
     */
    boolean allows(int length, int flags, int streamId) {
        return switch (this) {
            case DATA, HEADERS, PRIORITY, CONTINUATION -> streamId != 0;
            case RST_STREAM -> streamId != 0 && length == 4;
            case SETTINGS -> streamId == 0 && ((flags & ACK) == 0 ? length % 6 == 0 : length == 0);
            case PUSH_PROMISE -> streamId != 0 && length >= ((flags & PADDED) == 0 ? 4 : 5);
            case PING -> streamId == 0 && length == 8;
            case GOAWAY -> streamId == 0 && length >= 8;
            case WINDOW_UPDATE -> length == 4;
            case UNKNOWN -> true;
        };
    }
}
