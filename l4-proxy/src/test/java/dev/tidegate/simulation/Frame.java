package dev.tidegate.simulation;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A frame of HTTP/2 (RFC 9113 section 4.1). What stands in a header block is nobody's business here. Immutable. */
final class Frame {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int CONTINUATION = 9;

    static final int END_STREAM = 1;
    static final int ACK = 1;
    static final int END_HEADERS = 4;

    static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final int HEAD_BYTES = 9;

    private final int type;
    private final int flags;
    private final int stream;
    private final byte[] payload;

    Frame(int type, int flags, int stream, byte[] payload) {
        this.type = type;
        this.flags = flags;
        this.stream = stream;
        this.payload = payload;
    }

    static Frame ofInts(int type, int flags, int stream, int... payload) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * payload.length);
        for (int each : payload) {
            bytes.putInt(each);
        }
        return new Frame(type, flags, stream, bytes.array());
    }

    /** Takes the next one; null when it is not whole. */
    static Frame next(Inbox from) {
        if (from.size() < HEAD_BYTES) {
            return null;
        }
        int length = (from.at(0) << 16) | (from.at(1) << 8) | from.at(2);
        if (from.size() < HEAD_BYTES + length) {
            return null;
        }
        ByteBuffer head = ByteBuffer.wrap(from.take(HEAD_BYTES)).position(3);
        return new Frame(head.get(), head.get(), head.getInt(), from.take(length));
    }

    int type() {
        return type;
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    boolean isPing(boolean ack) {
        return type == PING && has(ACK) == ack;
    }

    int stream() {
        return stream;
    }

    int length() {
        return payload.length;
    }

    byte[] payload() {
        return payload.clone();
    }

    /** The number at that place of the payload, in numbers of four bytes. */
    int number(int at) {
        return ByteBuffer.wrap(payload).getInt(4 * at);
    }

    /** The same, acknowledged. */
    Frame acknowledged() {
        return new Frame(type, flags | ACK, stream, payload);
    }

    byte[] bytes() {
        return ByteBuffer.allocate(HEAD_BYTES + payload.length)
                .putShort((short) (payload.length >> 8))
                .put((byte) payload.length)
                .put((byte) type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }

    boolean sameAs(Frame other) {
        return other != null
                && type == other.type
                && flags == other.flags
                && stream == other.stream
                && Arrays.equals(payload, other.payload);
    }

    @Override
    public String toString() {
        return "frame of type " + type + ", flags " + flags + ", stream " + stream + ", " + payload.length + " bytes";
    }
}
