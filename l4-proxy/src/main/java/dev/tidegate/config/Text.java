package dev.tidegate.config;

import java.util.Locale;

/** Small helpers on text for messages: quoting what the operator wrote, and finding what was meant. Stateless. */
final class Text {
    private static final int QUOTED_MAX = 60;

    private Text() {}

    /** The text in quotes, cut short and with control characters escaped, so that a message stays one line. */
    static String quote(String text) {
        StringBuilder quoted = new StringBuilder(Math.min(text.length(), QUOTED_MAX) + 8).append('"');
        int end = Math.min(text.length(), QUOTED_MAX);
        for (int i = 0; i < end; i++) {
            appendSafely(quoted, text.charAt(i));
        }
        return quoted.append(end < text.length() ? "…\"" : "\"").toString();
    }

    /** The text with everything that could break or repaint a line escaped. */
    static String oneLine(String text) {
        StringBuilder line = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            appendSafely(line, text.charAt(i));
        }
        return line.toString();
    }

    private static void appendSafely(StringBuilder out, char c) {
        boolean harmful = Character.isISOControl(c)
                || Character.getType(c) == Character.FORMAT
                || c == '\u2028'
                || c == '\u2029'
                || Character.isSurrogate(c);
        if (harmful) {
            out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
        } else {
            out.append(c);
        }
    }

    /**
     * The candidate nearest to what was written, or nothing when none is near. Case, {@code _} and a missing
     * {@code -} count as no distance, since {@code maxConnections} clearly means {@code max-connections}.
     */
    static String nearest(String written, Iterable<String> candidates) {
        if (written.length() > QUOTED_MAX) {
            return "";
        }
        String plain = squash(written);
        String best = "";
        int bestDistance = Integer.MAX_VALUE;
        for (String candidate : candidates) {
            int distance = distance(plain, squash(candidate));
            if (distance < bestDistance) {
                bestDistance = distance;
                best = candidate;
            }
        }
        return bestDistance <= Math.min(3, plain.length() / 3) ? best : "";
    }

    private static String squash(String key) {
        return key.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
    }

    /** Edit distance where swapping two neighbours is one step (optimal string alignment). */
    static int distance(String a, String b) {
        int[] beforePrevious = new int[b.length() + 1];
        int[] previous = new int[b.length() + 1];
        int[] current = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            current[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int cost = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                int best = Math.min(previous[j - 1] + cost, Math.min(previous[j], current[j - 1]) + 1);
                boolean swapped =
                        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
                current[j] = swapped ? Math.min(best, beforePrevious[j - 2] + 1) : best;
            }
            int[] spare = beforePrevious;
            beforePrevious = previous;
            previous = current;
            current = spare;
        }
        return previous[b.length()];
    }
}
