package dev.tidegate.health.probe;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.Locale;

/** Foreign bytes and texts, fit for one line of a log: short, visible. Stateless. */
final class Printable {
    static final int BYTES_MAX = 64;
    static final int LINE_MAX = 200;

    private Printable() {}

    /** The first 64 bytes, in quotes, others than visible ASCII escaped; empty: {@code nothing}. */
    static String quoted(byte[] bytes) {
        if (bytes.length == 0) {
            return "nothing";
        }
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < Math.min(bytes.length, BYTES_MAX); i++) {
            append(out, bytes[i] & 0xff);
        }
        return out.append(bytes.length > BYTES_MAX ? "\"... (" + bytes.length + " bytes)" : "\"")
                .toString();
    }

    /** The same of what is readable, which stays so. */
    static String quoted(ByteBuf bytes) {
        return quoted(ByteBufUtil.getBytes(bytes));
    }

    private static void append(StringBuilder out, int value) {
        switch (value) {
            case '\r' -> out.append("\\r");
            case '\n' -> out.append("\\n");
            case '\t' -> out.append("\\t");
            case '"' -> out.append("\\\"");
            case '\\' -> out.append("\\\\");
            default -> {
                if (value >= 0x20 && value < 0x7f) {
                    out.append((char) value);
                } else {
                    out.append(String.format(Locale.ROOT, "\\x%02x", value));
                }
            }
        }
    }

    /** At most 200 characters of a text, its control characters and what else cannot be seen as {@code ?}. */
    static String line(String text) {
        StringBuilder out = new StringBuilder();
        text.strip().codePoints().limit(LINE_MAX).forEach(c -> out.appendCodePoint(isVisible(c) ? c : '?'));
        return out.toString();
    }

    private static boolean isVisible(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
