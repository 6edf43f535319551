package dev.tidegate.protocol;

import io.netty.buffer.ByteBuf;

/**
 * The endpoint's direction of an HTTP/2 connection: of two of its frames the payload begins with a stream's id that matters,
 * GOAWAY (RFC 9113 section 6.8) and PUSH_PROMISE (section 6.6). A client's frames have none.
 *
 * <p>Confined to the connection's worker. Hot: no allocation.
 */
final class EndpointFrames extends FrameWalker {
    /** The last four of the payload's bytes that were {@link #wanted}. */
    private int word;
    /** How many bytes of the payload are still to be looked at. */
    private byte wanted;

    private boolean over;

    /** The endpoint has ended its direction: nothing can stand behind that, of ours neither. */
    void onFin() {
        over = true;
    }

    boolean isOver() {
        return over;
    }

    /** GOAWAY: the last stream id; PUSH_PROMISE: the promised one. To be asked when the payload is whole. */
    int idInPayload() {
        return word & MAX_ID;
    }

    @Override
    boolean begin() {
        if (!super.begin()) {
            return false;
        }
        FrameType begun = type();
        if (begun == FrameType.GOAWAY) {
            wanted = 4;
        } else if (begun == FrameType.PUSH_PROMISE) {
            // The length of the padding, if any, is looked at too, and drops out of the word again.
            wanted = (byte) (has(FrameType.PADDED) ? 5 : 4);
        }
        return true;
    }

    @Override
    int skip(ByteBuf data, int from, int end) {
        int to = super.skip(data, from, end);
        for (int at = from; wanted > 0 && at < to; wanted--) {
            word = (word << 8) | (data.getByte(at++) & 0xff);
        }
        return to;
    }
}
