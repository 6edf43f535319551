package dev.tidegate.telemetry;

import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Lines on their way to a sink, in bytes: filled as a whole, emptied bit by bit, used again. A line that was written in
 * part can be taken back to its start.
 *
 * <p>Confined to the log's writer thread.
 */
final class LineBuffer extends OutputStream {
    private byte[] bytes;
    private int size;
    private int written;

    LineBuffer(int capacity) {
        bytes = new byte[capacity];
    }

    @Override
    public void write(int b) {
        reserve(1);
        bytes[size++] = (byte) b;
    }

    @Override
    public void write(byte[] from, int offset, int length) {
        reserve(length);
        System.arraycopy(from, offset, bytes, size, length);
        size += length;
    }

    /** Appends text in UTF-8. */
    void append(CharSequence text) {
        byte[] utf8 = text.toString().getBytes(StandardCharsets.UTF_8);
        write(utf8, 0, utf8.length);
    }

    int size() {
        return size;
    }

    /** Forgets what was appended since it had this size. */
    void truncate(int to) {
        size = to;
    }

    boolean isEmpty() {
        return written == size;
    }

    /** What is still to be written. */
    ByteBuffer unwritten() {
        return ByteBuffer.wrap(bytes, written, size - written);
    }

    /**
     * Takes note of bytes that a sink took.
     *
     * @return how many lines they ended
     */
    int advance(int count) {
        int lines = 0;
        for (int i = written; i < written + count; i++) {
            if (bytes[i] == '\n') {
                lines++;
            }
        }
        written += count;
        return lines;
    }

    /** Goes back to the start of the line that was written in part, so that it can be written to another place whole. */
    void rewindToLineStart() {
        while (written > 0 && bytes[written - 1] != '\n') {
            written--;
        }
    }

    /** How many lines are still to be written. */
    int unwrittenLines() {
        int lines = 0;
        for (int i = written; i < size; i++) {
            if (bytes[i] == '\n') {
                lines++;
            }
        }
        return lines;
    }

    /**
     * Gives up what is still to be written, save for the end of a line that was written in part: the next one starts anew.
     *
     * @return how many lines that leaves unwritten and unended
     */
    int abandon() {
        int lines = unwrittenLines();
        boolean withinLine = written > 0 && written < size && bytes[written - 1] != '\n';
        clear();
        if (withinLine) {
            write('\n');
            return lines - 1;
        }
        return lines;
    }

    void clear() {
        size = 0;
        written = 0;
    }

    private void reserve(int more) {
        if (bytes.length - size < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
        }
    }
}
