package dev.tidegate.simulation;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes that have come to a peer and are not understood yet. */
final class Inbox {
    static final int NONE = -1;

    private byte[] bytes = new byte[256];
    private int from;
    private int to;

    void add(byte[] more) {
        if (to + more.length > bytes.length) {
            bytes = Arrays.copyOf(
                    Arrays.copyOfRange(bytes, from, to), Math.max(bytes.length, 2 * (to - from + more.length)));
            to -= from;
            from = 0;
        }
        System.arraycopy(more, 0, bytes, to, more.length);
        to += more.length;
    }

    int size() {
        return to - from;
    }

    /** The unsigned byte at that place. */
    int at(int index) {
        return bytes[from + index] & 0xff;
    }

    /** All that is there, left where it is. */
    byte[] peek() {
        return Arrays.copyOfRange(bytes, from, to);
    }

    byte[] take(int count) {
        byte[] taken = Arrays.copyOfRange(bytes, from, from + count);
        from += count;
        return taken;
    }

    /** Takes what stands before the mark, and the mark with it; null when the mark is not there. */
    String takeThrough(String mark) {
        int end = indexOf(mark.getBytes(StandardCharsets.US_ASCII));
        if (end == NONE) {
            return null;
        }
        String text = new String(bytes, from, end, StandardCharsets.US_ASCII);
        from += end + mark.length();
        return text;
    }

    private int indexOf(byte[] mark) {
        for (int i = from; i + mark.length <= to; i++) {
            if (Arrays.equals(bytes, i, i + mark.length, mark, 0, mark.length)) {
                return i - from;
            }
        }
        return NONE;
    }
}
