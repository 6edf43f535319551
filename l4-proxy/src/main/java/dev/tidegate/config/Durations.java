package dev.tidegate.config;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The configuration's words for durations: a whole number and one unit of {@code ms s m h d}, as in {@code 250ms}.
 * Nothing is rounded and nothing wraps: what cannot be held exactly is refused. Stateless; any thread.
 */
public final class Durations {
    private static final String EXPECTED = "write a whole number and a unit (ms, s, m, h or d), as in 250ms, 10s or 5m";
    private static final Pattern EXACT = Pattern.compile("([0-9]+)(ms|s|m|h|d)");
    private static final Pattern BARE = Pattern.compile("[0-9]+");
    private static final Pattern DECIMAL = Pattern.compile("([0-9]{1,18}\\.[0-9]{1,9})(ms|s|m|h|d)");
    private static final Pattern LOOSE = Pattern.compile("([0-9]+)\\s*([A-Za-zµ]+)\\.?");
    /** 292 years: what a signed count of nanoseconds holds, so that the running proxy can always convert. */
    private static final BigInteger MAX_MILLIS = BigInteger.valueOf(Long.MAX_VALUE / 1_000_000);

    private static final BigDecimal LONGEST_HINT_MILLIS = new BigDecimal(MAX_MILLIS);
    /** Digits beyond this many are out of range whatever the unit; checked first so that long input stays cheap. */
    private static final int MAX_DIGITS = 19;

    private Durations() {}

    /**
     * Reads a duration as the configuration writes it.
     *
     * @param text such as {@code 250ms}, {@code 10s}, {@code 5m}, {@code 2h}, {@code 1d}
     * @return the duration, exact, at most 292 years
     * @throws IllegalArgumentException if the text is anything else; the message says what would be right
     */
    public static Duration parse(String text) {
        try {
            return read(text);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    /**
     * Writes a duration the way {@link #parse} reads it, in the largest unit that is exact.
     *
     * @param duration not negative; a rest below a millisecond is written as a decimal, which no key takes
     * @return such as {@code 5m}; zero is {@code 0s}
     */
    public static String format(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        if (duration.getNano() % 1_000_000 != 0) {
            return BigDecimal.valueOf(duration.getSeconds())
                            .movePointRight(3)
                            .add(BigDecimal.valueOf(duration.getNano(), 6))
                            .stripTrailingZeros()
                            .toPlainString()
                    + "ms";
        }
        return format(duration.toMillis());
    }

    static Duration read(String text) throws InvalidValue {
        Matcher exact = EXACT.matcher(text);
        if (!exact.matches()) {
            throw refusal(text);
        }
        String digits = exact.group(1);
        if (digits.length() > MAX_DIGITS) {
            throw tooLong(text);
        }
        BigInteger millis = new BigInteger(digits).multiply(BigInteger.valueOf(unitMillis(exact.group(2))));
        if (millis.compareTo(MAX_MILLIS) > 0) {
            throw tooLong(text);
        }
        return Duration.ofMillis(millis.longValueExact());
    }

    private static InvalidValue tooLong(String text) {
        return new InvalidValue(Text.quote(text) + " is too long a time to count", "write a shorter duration");
    }

    private static InvalidValue refusal(String text) {
        if (text.isEmpty()) {
            return new InvalidValue("the duration is empty", EXPECTED);
        }
        if (text.startsWith("-")) {
            return new InvalidValue(Text.quote(text) + " is negative", EXPECTED);
        }
        if (BARE.matcher(text).matches()) {
            return new InvalidValue(
                    Text.quote(text) + " has no unit",
                    text.length() > MAX_DIGITS ? EXPECTED : "write " + text + "s for seconds or " + text + "ms");
        }
        Matcher decimal = DECIMAL.matcher(text);
        if (decimal.matches()) {
            return new InvalidValue(Text.quote(text) + " is not a whole number", wholeFor(decimal));
        }
        Matcher loose = LOOSE.matcher(text);
        if (loose.matches() && loose.group(1).length() <= MAX_DIGITS) {
            String unit = unitFor(loose.group(2));
            if (!unit.isEmpty()) {
                return new InvalidValue(Text.quote(text) + " is not a duration", "write " + loose.group(1) + unit);
            }
        }
        return new InvalidValue(Text.quote(text) + " is not a duration", EXPECTED);
    }

    private static String wholeFor(Matcher decimal) {
        BigDecimal millis = new BigDecimal(decimal.group(1)).multiply(BigDecimal.valueOf(unitMillis(decimal.group(2))));
        BigDecimal stripped = millis.stripTrailingZeros();
        if (stripped.scale() > 0) {
            return "the smallest unit is 1ms";
        }
        return millis.compareTo(LONGEST_HINT_MILLIS) > 0 ? EXPECTED : "write " + format(stripped.longValueExact());
    }

    private static String format(long millis) {
        for (String unit : new String[] {"d", "h", "m", "s"}) {
            if (millis != 0 && millis % unitMillis(unit) == 0) {
                return millis / unitMillis(unit) + unit;
            }
        }
        return millis + "ms";
    }

    private static long unitMillis(String unit) {
        return switch (unit) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            case "h" -> 3_600_000;
            case "d" -> 86_400_000;
            default -> throw new IllegalArgumentException("unknown unit " + unit);
        };
    }

    /** The unit a slip most likely meant, or nothing; {@code M} is left out because it could be months. */
    private static String unitFor(String word) {
        return switch (word) {
            case "ms", "MS", "Ms", "msec", "msecs", "millis", "millisecond", "milliseconds" -> "ms";
            case "s", "S", "sec", "secs", "second", "seconds" -> "s";
            case "m", "min", "mins", "minute", "minutes" -> "m";
            case "h", "H", "hr", "hrs", "hour", "hours" -> "h";
            case "d", "D", "day", "days" -> "d";
            default -> "";
        };
    }
}
