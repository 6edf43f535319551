package dev.tidegate.config;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The configuration's words for numbers of bytes: a whole number and one unit of {@code B KiB MiB GiB TiB}, each 1,024 of
 * the one before, as in {@code 64KiB}. Nothing is rounded and nothing wraps. Stateless; any thread.
 */
public final class Sizes {
    static final String UNITS = "B, KiB, MiB, GiB, TiB";

    private static final String EXPECTED =
            "write a whole number and a unit (B, KiB, MiB, GiB or TiB), as in 64KiB or 10GiB";
    private static final List<String> NAMES = List.of("B", "KiB", "MiB", "GiB", "TiB");
    private static final Pattern EXACT = Pattern.compile("([0-9]+)(B|KiB|MiB|GiB|TiB)");
    private static final Pattern BARE = Pattern.compile("[0-9]+");
    private static final Pattern DECIMAL = Pattern.compile("([0-9]{1,18}\\.[0-9]{1,18})(B|KiB|MiB|GiB|TiB)");
    private static final Pattern LOOSE = Pattern.compile("([0-9]+)\\s*([A-Za-z]+)\\.?");
    private static final BigInteger MAX_BYTES = BigInteger.valueOf(Long.MAX_VALUE);
    /** Digits beyond this many are out of range whatever the unit; checked first so that long input stays cheap. */
    private static final int MAX_DIGITS = 19;

    private Sizes() {}

    /**
     * Reads a size as the configuration writes it.
     *
     * @param text such as {@code 512B}, {@code 64KiB}, {@code 10GiB}
     * @return bytes, exact
     * @throws IllegalArgumentException if the text is anything else; the message says what would be right
     */
    public static long parse(String text) {
        try {
            return read(text);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    /**
     * Writes a size the way {@link #parse} reads it, in the largest unit that is exact.
     *
     * @param bytes not negative
     * @return such as {@code 64KiB}; zero is {@code 0B}
     */
    public static String format(long bytes) {
        int unit = 0;
        long count = bytes;
        while (count != 0 && count % 1_024 == 0 && unit < NAMES.size() - 1) {
            count /= 1_024;
            unit++;
        }
        return count + NAMES.get(unit);
    }

    static long read(String text) throws InvalidValue {
        Matcher exact = EXACT.matcher(text);
        if (!exact.matches()) {
            throw refusal(text);
        }
        if (exact.group(1).length() > MAX_DIGITS) {
            throw tooMuch(text);
        }
        BigInteger bytes = new BigInteger(exact.group(1)).shiftLeft(bits(exact.group(2)));
        if (bytes.compareTo(MAX_BYTES) > 0) {
            throw tooMuch(text);
        }
        return bytes.longValueExact();
    }

    private static InvalidValue tooMuch(String text) {
        return new InvalidValue(Text.quote(text) + " is more than can be counted", "write a smaller size");
    }

    private static InvalidValue refusal(String text) {
        if (text.isEmpty()) {
            return new InvalidValue("the size is empty", EXPECTED);
        }
        if (text.startsWith("-")) {
            return new InvalidValue(Text.quote(text) + " is negative", EXPECTED);
        }
        if (BARE.matcher(text).matches()) {
            return new InvalidValue(
                    Text.quote(text) + " has no unit",
                    text.length() > MAX_DIGITS ? EXPECTED : "write " + text + "B for bytes or " + text + "MiB");
        }
        Matcher decimal = DECIMAL.matcher(text);
        if (decimal.matches()) {
            return new InvalidValue(Text.quote(text) + " is not a whole number", wholeFor(decimal));
        }
        Matcher loose = LOOSE.matcher(text);
        if (loose.matches() && loose.group(1).length() <= MAX_DIGITS) {
            String unit = unitFor(loose.group(2));
            if (!unit.isEmpty()) {
                return new InvalidValue(Text.quote(text) + " is not a size", "write " + loose.group(1) + unit);
            }
        }
        return new InvalidValue(Text.quote(text) + " is not a size", EXPECTED);
    }

    private static String wholeFor(Matcher decimal) {
        BigDecimal bytes = new BigDecimal(decimal.group(1))
                .multiply(new BigDecimal(BigInteger.ONE.shiftLeft(bits(decimal.group(2)))))
                .stripTrailingZeros();
        boolean sayable = bytes.scale() <= 0 && bytes.compareTo(new BigDecimal(MAX_BYTES)) <= 0;
        return sayable ? "write " + format(bytes.longValueExact()) : EXPECTED;
    }

    private static int bits(String unit) {
        return 10 * NAMES.indexOf(unit);
    }

    /** The unit a slip most likely meant, or nothing. */
    private static String unitFor(String word) {
        return switch (word.toLowerCase(Locale.ROOT)) {
            case "b", "byte", "bytes" -> "B";
            case "k", "kb", "ki", "kib" -> "KiB";
            case "m", "mb", "mi", "mib" -> "MiB";
            case "g", "gb", "gi", "gib" -> "GiB";
            case "t", "tb", "ti", "tib" -> "TiB";
            default -> "";
        };
    }
}
