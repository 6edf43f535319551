package dev.tidegate.protocol;

import io.netty.buffer.ByteBuf;

/**
 * The place where one direction of an HTTP/2 connection stands: in a frame's head, in its payload, or on the edge between two
 * (RFC 9113 section 4.1). Only the length in the head moves it on.
 *
 * <p>Two stand on every watched connection, so each field is as small as it can be: 24 bytes in all, without what the
 * endpoint's adds. Confined to the connection's worker. Hot: no allocation; a payload is skipped, however long.
 */
abstract class FrameWalker {
    static final int HEAD_BYTES = 9;
    /** The greatest stream id; the bit above it is reserved and ignored. */
    static final int MAX_ID = Integer.MAX_VALUE;

    // What a header block is (RFC 9113 section 4.3), in one byte.
    /** None is begun and not whole. */
    private static final byte NO_BLOCK = 0;
    /** One is begun on {@link #streamId}, and only a frame on that stream may come. */
    private static final byte BLOCK = 1;
    /** The same, and the HEADERS frame that began it had END_STREAM. */
    private static final byte LAST_BLOCK = 2;
    /** One was begun, and the head of a frame on another stream came: there is nothing after that. */
    private static final byte BROKEN_BLOCK = 3;

    /** Of the payload; while the head comes in, its length so far. */
    private int left;

    private int streamId;

    private byte type;
    private byte flags;
    private byte headSeen;
    private byte block = NO_BLOCK;

    /** Whether it stands between two frames, and a frame on stream 0 may stand here: not within a header block. */
    boolean onEdge() {
        return headSeen == 0 && block == NO_BLOCK;
    }

    boolean inPayload() {
        return headSeen == HEAD_BYTES;
    }

    boolean payloadWhole() {
        return left == 0;
    }

    final FrameType type() {
        return FrameType.of(type & 0xff);
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    int streamId() {
        return streamId;
    }

    /** Reads what there is of a head, and returns the index after it. */
    int readHead(ByteBuf data, int from, int end) {
        if (headSeen == 0 && end - from >= HEAD_BYTES) {
            left = data.getUnsignedMedium(from);
            type = data.getByte(from + 3);
            flags = data.getByte(from + 4);
            readStreamId(data.getInt(from + 5) & MAX_ID);
            headSeen = HEAD_BYTES;
            return from + HEAD_BYTES;
        }
        int at = from;
        while (at < end && headSeen < HEAD_BYTES) {
            readHeadByte(data.getByte(at++));
        }
        return at;
    }

    private void readHeadByte(byte next) {
        switch (headSeen++) {
            case 0, 1, 2 -> left = (left << 8) | (next & 0xff);
            case 3 -> type = next;
            case 4 -> flags = next;
            case 5 -> readIdByte(24, next & 0x7f);
            case 6 -> readIdByte(16, next & 0xff);
            case 7 -> readIdByte(8, next & 0xff);
            default -> readIdByte(0, next & 0xff);
        }
    }

    private void readStreamId(int id) {
        if (block != NO_BLOCK && id != streamId) {
            block = BROKEN_BLOCK;
        }
        streamId = id;
    }

    private void readIdByte(int shift, int next) {
        readStreamId((streamId & ~(0xff << shift)) | (next << shift));
    }

    /** The head is whole: whether such a frame may stand here. If not, nothing further is certain. */
    boolean begin() {
        FrameType begun = type();
        boolean inPlace = begun == FrameType.CONTINUATION ? block == BLOCK || block == LAST_BLOCK : block == NO_BLOCK;
        if (!inPlace || !begun.allows(left, flags, streamId)) {
            return false;
        }
        if (begun == FrameType.HEADERS) {
            block = has(FrameType.END_STREAM) ? LAST_BLOCK : BLOCK;
        } else if (begun == FrameType.PUSH_PROMISE) {
            block = BLOCK;
        }
        return true;
    }

    /** Skips what there is of the payload, and returns the index after it. */
    int skip(ByteBuf data, int from, int end) {
        int skipped = Math.min(left, end - from);
        left -= skipped;
        return from + skipped;
    }

    /** The payload is whole, and with it the frame. Returns whether its sender has ended the stream. */
    boolean end() {
        headSeen = 0;
        return switch (type()) {
            case DATA -> has(FrameType.END_STREAM);
            case HEADERS, PUSH_PROMISE, CONTINUATION -> has(FrameType.END_HEADERS) && endBlock();
            case PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, UNKNOWN -> false;
        };
    }

    private boolean endBlock() {
        boolean endsStream = block == LAST_BLOCK;
        block = NO_BLOCK;
        return endsStream;
    }
}
