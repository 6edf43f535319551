package dev.tidegate.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;

/**
 * A glass that is moved along a buffer, to look at bytes one by one. They are copied out a piece at a time: an array is walked
 * without a check of bounds and of the buffer's life at each byte. Bytes that are skipped are not copied.
 *
 * <p>There is one for each thread, with the bytes of one call under it at a time: nothing that is called while somebody looks
 * may look at other bytes.
 */
final class Glass {
    private static final int PIECE_BYTES = 1_024;

    private static final FastThreadLocal<Glass> OF_THREAD = new FastThreadLocal<>() {
        @Override
        protected Glass initialValue() {
            return new Glass();
        }
    };

    /** The bytes of the buffer from {@link #start()} to {@link #limit()}, from index 0. */
    private final byte[] bytes = new byte[PIECE_BYTES];

    private ByteBuf data;
    private int start;
    private int limit;

    private Glass() {}

    /** This thread's, at the beginning of a buffer's readable bytes. */
    static Glass over(ByteBuf data) {
        Glass glass = OF_THREAD.get();
        glass.data = data;
        glass.start = data.readerIndex();
        glass.limit = glass.start;
        return glass;
    }

    /** Moves on, if that byte is not under it yet. Never back. */
    void moveTo(int index, int end) {
        if (index >= limit) {
            int count = Math.min(end - index, PIECE_BYTES);
            data.getBytes(index, bytes, 0, count);
            start = index;
            limit = index + count;
        }
    }

    /** The index in the buffer of what stands at 0 in {@link #bytes()}. */
    int start() {
        return start;
    }

    /** The index in the buffer behind the last byte under it. */
    int limit() {
        return limit;
    }

    byte[] bytes() {
        return bytes;
    }
}
