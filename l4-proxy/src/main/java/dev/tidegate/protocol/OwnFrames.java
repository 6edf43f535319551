package dev.tidegate.protocol;

import io.netty.buffer.ByteBuf;

/** The frames of our own that a client is sent: GOAWAY and PING, and what the PING's acknowledgement looks like. */
final class OwnFrames {
    /** GOAWAY without debug data: a head, the last stream id and an error code (RFC 9113 section 6.8). */
    static final int GOAWAY_BYTES = FrameWalker.HEAD_BYTES + 8;
    /** PING, and its acknowledgement (RFC 9113 section 6.7). */
    static final int PING_BYTES = FrameWalker.HEAD_BYTES + 8;

    private static final int NO_ERROR = 0;

    /** Of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
    private static final long GOLDEN_GAMMA = 0x9E37_79B9_7F4A_7C15L;

    private OwnFrames() {}

    static void writeGoaway(ByteBuf out, int lastId) {
        writeHead(out, FrameType.GOAWAY);
        out.writeInt(lastId).writeInt(NO_ERROR);
    }

    static void writePing(ByteBuf out, long payload) {
        writeHead(out, FrameType.PING);
        out.writeLong(payload);
    }

    /** The payload of a PING that a secret gives: the same for the same secret, and unlike those that clients count up. */
    static long payload(int secret) {
        long mixed = (secret + GOLDEN_GAMMA) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ (mixed >>> 31);
    }

    private static void writeHead(ByteBuf out, FrameType type) {
        out.writeMedium(8).writeByte(type.code()).writeByte(0).writeInt(0);
    }

    /** The byte at {@code index} of the acknowledgement of a PING with that payload: 17 in all, no other way to write it. */
    static byte ackByte(int index, long payload) {
        return switch (index) {
            case 0, 1, 5, 6, 7, 8 -> 0;
            case 2 -> 8;
            case 3 -> (byte) FrameType.PING.code();
            case 4 -> FrameType.ACK;
            default -> (byte) (payload >>> (8 * (PING_BYTES - 1 - index)));
        };
    }
}
