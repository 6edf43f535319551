package dev.tidegate.protocol;

import io.netty.buffer.ByteBuf;

/**
 * The place where one direction of an HTTP/2 connection stands: in a frame's head, in its payload, or on the edge between two
 * (RFC 9113 section 4.1). Only the length in the head moves it on.
 *
 * <p>Confined to the connection's worker. Hot: no allocation; a payload is skipped, however long.
 */
final class FrameWalker {
    static final int HEAD_BYTES = 9;
    /** The greatest stream id; the bit above it is reserved and ignored. */
    static final int MAX_ID = Integer.MAX_VALUE;

    /** In {@link #block}: the HEADERS frame that began it had END_STREAM. */
    private static final int ENDS_STREAM = 1 << 31;

    /** Of the payload; while the head comes in, its length so far. */
    private int left;

    private int streamId;
    /** The last four of the payload's bytes that were {@link #wanted}. */
    private int word;
    /** The stream whose header block is begun and not whole (RFC 9113 section 4.3), or 0; with {@link #ENDS_STREAM}. */
    private int block;

    private byte type;
    private byte flags;
    private byte headSeen;
    /** How many bytes of the payload are still to be looked at. */
    private byte wanted;

    /** Whether it stands between two frames, and a frame on stream 0 may stand here: not within a header block. */
    boolean onEdge() {
        return headSeen == 0 && block == 0;
    }

    boolean inPayload() {
        return headSeen == HEAD_BYTES;
    }

    boolean payloadWhole() {
        return left == 0;
    }

    FrameType type() {
        return FrameType.of(type & 0xff);
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    int streamId() {
        return streamId;
    }

    /** GOAWAY: the last stream id; PUSH_PROMISE: the promised one. */
    int idInPayload() {
        return word & MAX_ID;
    }

    /** Reads what there is of a head, and returns the index after it. */
    int readHead(ByteBuf data, int from, int end) {
        if (headSeen == 0 && end - from >= HEAD_BYTES) {
            left = data.getUnsignedMedium(from);
            type = data.getByte(from + 3);
            flags = data.getByte(from + 4);
            streamId = data.getInt(from + 5) & MAX_ID;
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
            case 5 -> streamId = next & 0x7f;
            default -> streamId = (streamId << 8) | (next & 0xff);
        }
    }

    /** The head is whole: whether such a frame may stand here. If not, nothing further is certain. */
    boolean begin() {
        FrameType begun = type();
        boolean inPlace = begun == FrameType.CONTINUATION ? (block & MAX_ID) == streamId : block == 0;
        if (!inPlace || !begun.allows(left, flags, streamId)) {
            return false;
        }
        switch (begun) {
            case HEADERS -> block = has(FrameType.END_STREAM) ? streamId | ENDS_STREAM : streamId;
            case PUSH_PROMISE -> {
                block = streamId;
                // The length of the padding, if any, is looked at too, and drops out of the word again.
                wanted = (byte) (has(FrameType.PADDED) ? 5 : 4);
            }
            case GOAWAY -> wanted = 4;
            case DATA, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION, UNKNOWN -> {}
        }
        return true;
    }

    /** Skips what there is of the payload, and returns the index after it. */
    int skip(ByteBuf data, int from, int end) {
        int at = from;
        for (; wanted > 0 && at < end; wanted--) {
            word = (word << 8) | (data.getByte(at++) & 0xff);
            left--;
        }
        int skipped = Math.min(left, end - at);
        left -= skipped;
        return at + skipped;
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
        boolean endsStream = (block & ENDS_STREAM) != 0;
        block = 0;
        return endsStream;
    }
}
