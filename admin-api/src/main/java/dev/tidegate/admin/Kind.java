package dev.tidegate.admin;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What values a member of a body or a query parameter may have. Immutable. */
sealed interface Kind {
    static Kind duration() {
        return new OfDuration();
    }

    static Kind yesOrNo() {
        return words(List.of("true", "false"));
    }

    static Kind words(List<String> words) {
        return new OfWord(List.copyOf(words));
    }

    static Kind integer(long min, long max) {
        return new OfInteger(min, max);
    }

    static Kind text(int charsMax) {
        return new OfText(charsMax);
    }

    /** The value; empty when the text is none. */
    Optional<Object> parse(String text);

    /** What would be right, as an order to the asker. */
    String wanted();

    /** Whether it stands in JSON as a number. */
    default boolean isNumber() {
        return false;
    }

    /** The same as JSON Schema. */
    Map<String, Object> schema();

    /** A whole number and a unit, as in the configuration. */
    record OfDuration() implements Kind {
        private static final Pattern EXACT = Pattern.compile("([0-9]{1,15})(ms|s|m|h|d)");
        private static final long MAX_MILLIS = Long.MAX_VALUE / 1_000_000; // what nanoseconds can hold

        @Override
        public Optional<Object> parse(String text) {
            Matcher exact = EXACT.matcher(text);
            if (!exact.matches()) {
                return Optional.empty();
            }
            long unitMillis =
                    switch (exact.group(2)) {
                        case "ms" -> 1L;
                        case "s" -> 1_000L;
                        case "m" -> 60_000L;
                        case "h" -> 3_600_000L;
                        default -> 86_400_000L;
                    };
            long count = Long.parseLong(exact.group(1));
            return count > MAX_MILLIS / unitMillis
                    ? Optional.empty()
                    : Optional.of(Duration.ofMillis(count * unitMillis));
        }

        @Override
        public String wanted() {
            return "write a whole number and a unit (ms, s, m, h or d), as in \"250ms\" or \"10m\"";
        }

        @Override
        public Map<String, Object> schema() {
            Map<String, Object> schema = new LinkedHashMap<>();
            schema.put("type", "string");
            schema.put("pattern", "^" + EXACT.pattern() + "$");
            return schema;
        }
    }

    /**
     * One of some words.
     *
     * @param words those
     */
    record OfWord(List<String> words) implements Kind {
        @Override
        public Optional<Object> parse(String text) {
            return words.contains(text) ? Optional.of(text) : Optional.empty();
        }

        @Override
        public String wanted() {
            return "write one of " + String.join(", ", words);
        }

        @Override
        public Map<String, Object> schema() {
            Map<String, Object> schema = new LinkedHashMap<>();
            schema.put("type", "string");
            schema.put("enum", words);
            return schema;
        }
    }

    /**
     * A whole number.
     *
     * @param min the least
     * @param max the greatest
     */
    record OfInteger(long min, long max) implements Kind {
        private static final Pattern DIGITS = Pattern.compile("0|[1-9][0-9]{0,17}");

        @Override
        public Optional<Object> parse(String text) {
            if (!DIGITS.matcher(text).matches()) {
                return Optional.empty();
            }
            long value = Long.parseLong(text);
            return value < min || value > max ? Optional.empty() : Optional.of(value);
        }

        @Override
        public String wanted() {
            return "write a whole number from " + min + " to " + max;
        }

        @Override
        public boolean isNumber() {
            return true;
        }

        @Override
        public Map<String, Object> schema() {
            Map<String, Object> schema = new LinkedHashMap<>();
            schema.put("type", "integer");
            schema.put("minimum", min);
            schema.put("maximum", max);
            return schema;
        }
    }

    /**
     * Words of the asker's own.
     *
     * @param charsMax the most characters
     */
    record OfText(int charsMax) implements Kind {
        @Override
        public Optional<Object> parse(String text) {
            boolean good =
                    !text.isBlank() && text.length() <= charsMax && text.chars().noneMatch(Character::isISOControl);
            return good ? Optional.of(text) : Optional.empty();
        }

        @Override
        public String wanted() {
            return "write 1 to " + charsMax + " characters, none of them a control character";
        }

        @Override
        public Map<String, Object> schema() {
            Map<String, Object> schema = new LinkedHashMap<>();
            schema.put("type", "string");
            schema.put("minLength", 1);
            schema.put("maxLength", charsMax);
            return schema;
        }
    }
}
