package dev.tidegate.health.probe;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Some bytes as a value: equal when they are the same. Immutable. */
public final class Bytes {
    private final byte[] bytes;

    private Bytes(byte[] bytes) {
        if (bytes.length == 0) {
            throw new IllegalArgumentException("no bytes; at least one is needed to send or to look for");
        }
        this.bytes = bytes;
    }

    /** A copy of these. */
    public static Bytes of(byte[] bytes) {
        return new Bytes(bytes.clone());
    }

    /** The text in UTF-8. */
    public static Bytes ofText(String text) {
        return new Bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * What hexadecimal digits stand for, two for each.
     *
     * @throws IllegalArgumentException if they do not
     */
    public static Bytes ofHex(String digits) {
        return new Bytes(HexFormat.of().parseHex(digits));
    }

    int length() {
        return bytes.length;
    }

    /** Where they begin among the readable bytes of a buffer, at {@code from} or later; -1 if they are not there. */
    int indexIn(ByteBuf buffer, int from) {
        int last = buffer.readableBytes() - bytes.length;
        for (int at = from; at <= last; at++) {
            int candidate = buffer.indexOf(buffer.readerIndex() + at, buffer.readerIndex() + last + 1, bytes[0]);
            if (candidate < 0) {
                return -1;
            }
            at = candidate - buffer.readerIndex();
            if (matchesAt(buffer, candidate)) {
                return at;
            }
        }
        return -1;
    }

    private boolean matchesAt(ByteBuf buffer, int index) {
        for (int i = 0; i < bytes.length; i++) {
            if (buffer.getByte(index + i) != bytes[i]) {
                return false;
            }
        }
        return true;
    }

    /** To be written; not copied, as nobody writes into it. */
    ByteBuf toBuffer() {
        return Unpooled.wrappedBuffer(bytes).asReadOnly();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** The first of them, in quotes, escaped. */
    @Override
    public String toString() {
        return Printable.quoted(bytes);
    }
}
