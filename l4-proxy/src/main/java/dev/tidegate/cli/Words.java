package dev.tidegate.cli;

import dev.tidegate.config.Durations;
import java.time.Duration;
import java.util.Locale;

/** Numbers and texts as a person reads them. Stateless. */
final class Words {
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    private static final String[] COUNTS = {"", "k", "M", "G", "T", "P", "E"};

    private Words() {}

    static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }

    /** Its two largest units: {@code 850ms}, {@code 12s}, {@code 3m05s}, {@code 2h40m}, {@code 5d03h}. */
    static String age(long millis) {
        long seconds = millis / 1_000;
        if (millis < 1_000) {
            return millis + "ms";
        }
        if (seconds < 60) {
            return seconds + "s";
        }
        if (seconds < 3_600) {
            return format("%dm%02ds", seconds / 60, seconds % 60);
        }
        return seconds < 86_400
                ? format("%dh%02dm", seconds / 3_600, seconds / 60 % 60)
                : format("%dd%02dh", seconds / 86_400, seconds / 3_600 % 24);
    }

    static String duration(Duration duration) {
        return Durations.format(duration);
    }

    /** A moment as the API tells it, without what is below a second. */
    static String seconds(String moment) {
        return moment.replaceFirst("\\.[0-9]+Z$", "Z");
    }

    /** A text with moments in it, each without what is below a second. */
    static String allSeconds(String text) {
        return text.replaceAll("(:[0-9]{2})\\.[0-9]+Z", "$1Z");
    }

    /** {@code 40%}, {@code 12.5%}. */
    static String percent(double percent) {
        return format(percent == Math.rint(percent) ? "%.0f%%" : "%.1f%%", percent);
    }

    /** At most four digits and a unit: {@code 0 B}, {@code 1.5 MiB}, {@code 312 GiB}. */
    static String bytes(double bytes) {
        return scaled(bytes, 1_024, SIZES, " ");
    }

    /** The same, of a whole number. */
    static String bytes(long bytes) {
        return bytes((double) bytes);
    }

    /** At most four digits: {@code 12}, {@code 1.2k}, {@code 3.4M}. */
    static String count(double count) {
        return scaled(count, 1_000, COUNTS, "");
    }

    /** The same, of a whole number. */
    static String count(long count) {
        return count((double) count);
    }

    private static String scaled(double value, int step, String[] units, String between) {
        int unit = 0;
        double rest = value;
        while (rest >= step - 0.5 && unit < units.length - 1) {
            rest /= step;
            unit++;
        }
        return format(unit > 0 && rest < 99.95 ? "%.1f" : "%.0f", rest) + between + units[unit];
    }

    /** A rate per second: one decimal while it is small. */
    static String rate(double perSecond) {
        return perSecond < 99.95 ? format("%.1f", perSecond) : count(perSecond);
    }

    /** {@code 1 connection}, {@code 2 connections}. */
    static String plural(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }

    /**
     * The text with nothing in it that a terminal would obey: names and messages come from elsewhere. Control characters
     * show as {@code ?}.
     */
    static String printable(String text) {
        return text.codePoints().anyMatch(Words::isUnprintable)
                ? text.codePoints()
                        .map(c -> isUnprintable(c) ? '?' : c)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString()
                : text;
    }

    private static boolean isUnprintable(int codePoint) {
        return Character.isISOControl(codePoint) || Character.getType(codePoint) == Character.FORMAT;
    }
}
