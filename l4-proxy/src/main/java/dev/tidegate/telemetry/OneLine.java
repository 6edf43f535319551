package dev.tidegate.telemetry;

/** Text that stays on its line: control characters are written as backslash, {@code u} and four digits. */
final class OneLine {
    private OneLine() {}

    static String of(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (breaks(text.charAt(i))) {
                return escaped(text);
            }
        }
        return text;
    }

    /** Control characters, and the two separators that some readers take for a line's end. */
    static boolean breaks(char c) {
        return Character.isISOControl(c) || c == '\u2028' || c == '\u2029';
    }

    private static String escaped(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (breaks(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }
}
