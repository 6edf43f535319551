package dev.tidegate.config;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A value of one word. Immutable. */
final class ScalarType<T> implements ValueType<T> {
    private static final String DURATION_PATTERN = "[0-9]+(ms|s|m|h|d)";
    private static final String DURATION_UNIT = "ms, s, m, h, d";
    private static final String SIZE_PATTERN = "[0-9]+(B|KiB|MiB|GiB|TiB)";
    private static final Pattern SHARE = Pattern.compile("([0-9]+)%");
    private static final Pattern NEGATIVE = Pattern.compile("-[0-9]+");
    private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,9}(\\.[0-9]{1,9})?");
    private static final Pattern WHOLE = Pattern.compile("[0-9]+");
    /** One digit more than any range has: longer numbers are out of range whatever they say. */
    private static final int WHOLE_DIGITS_MAX = 9;

    private static final String OFF = "off";
    private static final String NO_LIMIT_MEANT = "for no limit";
    /** What stands for no limit elsewhere. */
    private static final Pattern NO_LIMIT = Pattern.compile(
            "0+|-[0-9]+\\w*|off|no|none|never|false|disabled?|unlimited|infinite|infinity|\\.inf",
            Pattern.CASE_INSENSITIVE);

    /** What the value is in YAML's eyes. */
    private enum Form {
        /** Text that must not look like a number. */
        TEXT,
        /** A number without quotes, or a word in its place. */
        NUMBER,
        /** A word or duration; its own reader tells everything. */
        WORD
    }

    /** Turns text into the value. */
    interface Parser<T> {
        T parse(String text) throws InvalidValue;
    }

    private final String title;
    private final Form form;
    private final String expected;
    private final String unit;
    private final String range;
    private final Parser<T> parser;
    private final Consumer<ObjectNode> schema;

    private ScalarType(
            String title, Form form, String expected, Reach reach, Parser<T> parser, Consumer<ObjectNode> schema) {
        this.title = title;
        this.form = form;
        this.expected = expected;
        this.unit = reach.unit();
        this.range = reach.range();
        this.parser = parser;
        this.schema = schema;
    }

    private record Reach(String unit, String range) {
        static final Reach ANY = new Reach("", "");
    }

    static ScalarType<Duration> duration(DurationRange range) {
        return new ScalarType<>(
                "duration",
                Form.WORD,
                "a duration such as " + Durations.format(range.max()),
                new Reach(DURATION_UNIT, range.toString()),
                text -> within(range, text, ""),
                schema -> schema.put("type", "string").put("pattern", "^" + DURATION_PATTERN + "$"));
    }

    static ScalarType<Optional<Duration>> durationOrOff(DurationRange range) {
        return durationOrOff(range, NO_LIMIT_MEANT);
    }

    /** @param off what {@code off} is for, to whoever writes something else in its place */
    static ScalarType<Optional<Duration>> durationOrOff(DurationRange range, String off) {
        return new ScalarType<>(
                "duration or `off`",
                Form.WORD,
                "a duration such as 5m, or off",
                new Reach(DURATION_UNIT, range.toString()),
                orOff(
                        text -> Optional.of(within(range, text, ", or off")),
                        Optional.empty(),
                        off,
                        "a duration in " + range),
                schema -> schema.put("type", "string").put("pattern", "^(" + DURATION_PATTERN + "|off)$"));
    }

    /** Bytes, or no limit. */
    static ScalarType<OptionalLong> sizeOrOff(SizeRange range) {
        return new ScalarType<>(
                "size or `off`",
                Form.WORD,
                "a size such as 10GiB, or off",
                new Reach(Sizes.UNITS, range.toString()),
                orOff(
                        text -> OptionalLong.of(within(range, text)),
                        OptionalLong.empty(),
                        NO_LIMIT_MEANT,
                        "a size in " + range),
                schema -> schema.put("type", "string").put("pattern", "^(" + SIZE_PATTERN + "|off)$"));
    }

    /** Whole percents. */
    static ScalarType<Integer> share(IntRange range) {
        return new ScalarType<>(
                "share",
                Form.WORD,
                "a share such as 20%",
                new Reach("%", shares(range)),
                text -> shareWithin(range, text),
                schema -> schema.put("type", "string").put("pattern", "^[0-9]+%$"));
    }

    static ScalarType<Optional<Integer>> shareOrOff(IntRange range, String off) {
        return new ScalarType<>(
                "share or `off`",
                Form.WORD,
                "a share such as 20%, or off",
                new Reach("%", shares(range)),
                orOff(
                        text -> Optional.of(shareWithin(range, text)),
                        Optional.empty(),
                        off,
                        "a share in " + shares(range)),
                schema -> schema.put("type", "string").put("pattern", "^([0-9]+%|off)$"));
    }

    /** A number that may have a fraction. */
    static ScalarType<Double> decimal(DecimalRange range) {
        return new ScalarType<>(
                "number",
                Form.NUMBER,
                "a number in " + range,
                new Reach("", range.toString()),
                text -> within(range, text),
                schema ->
                        schema.put("type", "number").put("minimum", range.min()).put("maximum", range.max()));
    }

    /** Status codes. */
    static ScalarType<HealthConfig.StatusRange> statuses() {
        return new ScalarType<>(
                "status",
                Form.WORD,
                "a status such as 204, or a range such as 200-399",
                new Reach("", "100..599"),
                CheckWords::statuses,
                schema -> {
                    ArrayNode either = schema.putArray("anyOf");
                    integer(either.addObject(), IntRange.STATUS);
                    either.addObject().put("type", "string").put("pattern", "^" + CheckWords.STATUS_PATTERN + "$");
                });
    }

    /** The parser that knows {@code off} too, and names it to whoever writes another word or number for no limit. */
    private static <T> Parser<T> orOff(Parser<T> parser, T off, String meant, String otherwise) {
        return text -> {
            if (text.equals(OFF)) {
                return off;
            }
            try {
                return parser.parse(text);
            } catch (InvalidValue e) {
                if (NO_LIMIT.matcher(text).matches()) {
                    throw new InvalidValue(e.getMessage(), "write off " + meant + ", or " + otherwise);
                }
                throw e;
            }
        };
    }

    static ScalarType<Integer> whole(IntRange range, String unit) {
        return new ScalarType<>(
                "number",
                Form.NUMBER,
                "a whole number in " + range,
                new Reach(unit, range.toString()),
                text -> within(range, text, ""),
                schema -> integer(schema, range));
    }

    static ScalarType<OptionalInt> wholeOrOff(IntRange range, String unit) {
        return new ScalarType<>(
                "number or `off`",
                Form.NUMBER,
                "a whole number in " + range + ", or off",
                new Reach(unit, range.toString()),
                orOff(
                        text -> OptionalInt.of(within(range, text, ", or off")),
                        OptionalInt.empty(),
                        NO_LIMIT_MEANT,
                        "a whole number in " + range),
                schema -> {
                    ArrayNode either = schema.putArray("anyOf");
                    integer(either.addObject(), range);
                    either.addObject().put("const", OFF);
                });
    }

    static ScalarType<OptionalInt> wholeOrNone(IntRange range, String unit) {
        return new ScalarType<>(
                "number",
                Form.NUMBER,
                "a whole number in " + range,
                new Reach(unit, range.toString()),
                text -> OptionalInt.of(within(range, text, "")),
                schema -> integer(schema, range));
    }

    static ScalarType<OptionalInt> wholeOrAuto(IntRange range, String unit) {
        return new ScalarType<>(
                "number or `auto`",
                Form.NUMBER,
                "a whole number in " + range + ", or auto",
                new Reach(unit, range.toString()),
                text -> text.equals("auto") ? OptionalInt.empty() : OptionalInt.of(within(range, text, ", or auto")),
                schema -> {
                    ArrayNode either = schema.putArray("anyOf");
                    integer(either.addObject(), range);
                    either.addObject().put("const", "auto");
                });
    }

    /** Yes or no, in the two words that JSON and YAML have in common. */
    static ScalarType<Boolean> truth() {
        return new ScalarType<>(
                "truth value",
                Form.WORD,
                "true or false",
                new Reach("", "true, false"),
                text -> {
                    if (!text.equals("true") && !text.equals("false")) {
                        throw new InvalidValue(Text.quote(text) + " is neither true nor false", "write true or false");
                    }
                    return text.equals("true");
                },
                schema -> schema.put("type", "boolean"));
    }

    /** Words with what they stand for, in the order given. */
    @SafeVarargs
    static <E> Map<String, E> words(Map.Entry<String, E>... entries) {
        Map<String, E> words = new LinkedHashMap<>();
        for (Map.Entry<String, E> entry : entries) {
            words.put(entry.getKey(), entry.getValue());
        }
        return words;
    }

    /** One of some words; {@code later} are words that another version will know. */
    static <E> ScalarType<E> oneOf(Map<String, E> words, Map<String, String> later) {
        String all = String.join(", ", words.keySet());
        return new ScalarType<>(
                "word",
                Form.WORD,
                "one of " + all,
                new Reach("", all),
                text -> {
                    E value = words.get(text);
                    if (value == null) {
                        throw unknownWord(text, words.keySet(), later, all);
                    }
                    return value;
                },
                schema -> {
                    ArrayNode values = schema.putArray("enum");
                    for (String word : words.keySet()) {
                        values.add(word);
                        if (DECIMAL.matcher(word).matches()) {
                            values.add(Double.parseDouble(word)); // without quotes, it is a number to a validator
                        }
                    }
                });
    }

    private static InvalidValue unknownWord(
            String text, Iterable<String> words, Map<String, String> later, String all) {
        if (later.containsKey(text)) {
            return new InvalidValue(Text.quote(text) + " " + later.get(text), "write one of " + all);
        }
        String near = Text.nearest(text, words);
        return new InvalidValue(
                Text.quote(text) + " is unknown",
                near.isEmpty() ? "write one of " + all : "did you mean " + near + "? It is one of " + all);
    }

    static <T> ScalarType<T> text(String title, String expected, String pattern, Parser<T> parser) {
        return new ScalarType<>(title, Form.TEXT, expected, Reach.ANY, parser, schema -> describeText(schema, pattern));
    }

    private static void describeText(ObjectNode schema, String pattern) {
        schema.put("type", "string");
        if (!pattern.isEmpty()) {
            schema.put("pattern", "^(" + pattern + "|.*" + Environment.PATTERN + ".*)$");
        }
    }

    private static void integer(ObjectNode schema, IntRange range) {
        schema.put("type", "integer").put("minimum", range.min()).put("maximum", range.max());
    }

    private static Duration within(DurationRange range, String text, String orElse) throws InvalidValue {
        Duration value = Durations.read(text);
        if (!range.contains(value)) {
            throw new InvalidValue(Text.quote(text) + " is out of range", "write a duration in " + range + orElse);
        }
        return value;
    }

    private static long within(SizeRange range, String text) throws InvalidValue {
        long bytes = Sizes.read(text);
        if (!range.contains(bytes)) {
            throw new InvalidValue(Text.quote(text) + " is out of range", "write a size in " + range + ", or off");
        }
        return bytes;
    }

    private static int shareWithin(IntRange range, String text) throws InvalidValue {
        String hint = "write a share in " + shares(range);
        Matcher share = SHARE.matcher(text);
        if (share.matches()) {
            String digits = share.group(1);
            if (digits.length() > WHOLE_DIGITS_MAX || !range.contains(Integer.parseInt(digits))) {
                throw new InvalidValue(Text.quote(text) + " is out of range", hint);
            }
            return Integer.parseInt(digits);
        }
        if (text.startsWith("-")) {
            throw new InvalidValue(Text.quote(text) + " is negative", hint);
        }
        if (WHOLE.matcher(text).matches()) {
            throw new InvalidValue(Text.quote(text) + " has no unit", hint + ", as in 20%");
        }
        throw new InvalidValue(Text.quote(text) + " is not a share of whole percents", hint + ", as in 20%");
    }

    private static double within(DecimalRange range, String text) throws InvalidValue {
        String hint = "write a number in " + range;
        if (text.startsWith("-")) {
            throw new InvalidValue(Text.quote(text) + " is negative", hint);
        }
        if (!DECIMAL.matcher(text).matches()) {
            throw new InvalidValue(
                    Text.quote(text) + " is not a number of at most nine digits before and after a point",
                    hint + ", as in 1.5");
        }
        double value = Double.parseDouble(text);
        if (!range.contains(value)) {
            throw new InvalidValue(Text.quote(text) + " is out of range", hint);
        }
        return value;
    }

    private static String shares(IntRange range) {
        return range.min() + "%.." + range.max() + "%";
    }

    private static int within(IntRange range, String text, String orElse) throws InvalidValue {
        String hint = "write a whole number in " + range + orElse;
        if (NEGATIVE.matcher(text).matches()) {
            throw new InvalidValue(Text.quote(text) + " is negative", hint);
        }
        if (!WHOLE.matcher(text).matches()) {
            boolean number = YamlWords.kind(text).equals("a number");
            throw new InvalidValue(
                    Text.quote(text) + (number ? " is not a plain whole number" : " is not a number"), hint);
        }
        if (text.length() > 1 && text.startsWith("0")) {
            throw new InvalidValue(Text.quote(text) + " begins with a zero, which some take for octal", hint);
        }
        if (text.length() > WHOLE_DIGITS_MAX || !range.contains(Integer.parseInt(text))) {
            throw new InvalidValue(Text.quote(text) + " is out of range", hint);
        }
        return Integer.parseInt(text);
    }

    @Override
    public Optional<T> read(Node node, KeyPath path, Reading reading) {
        Optional<Reading.Word> found = reading.word(node, path, expected);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        Reading.Word word = found.get();
        try {
            if (form == Form.TEXT && !word.isText()) {
                throw new InvalidValue(
                        Text.quote(word.text()) + " is " + word.kind() + ", not text",
                        "write " + expected + (word.plain() ? ", in quotes if it is meant so" : ""));
            }
            T value = parser.parse(word.text());
            if (form == Form.NUMBER
                    && word.isQuoted()
                    && DECIMAL.matcher(word.text()).matches()) {
                throw new InvalidValue(
                        Text.quote(word.text()) + " is text, not a number", "write " + word.text() + " without quotes");
            }
            return Optional.of(value);
        } catch (InvalidValue e) {
            reading.problems().error(node.mark(), path, e);
            return Optional.empty();
        }
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public String unit() {
        return unit;
    }

    @Override
    public String range() {
        return range;
    }

    @Override
    public void describe(ObjectNode node) {
        if (form == Form.TEXT) {
            schema.accept(node);
            return;
        }
        ArrayNode either = node.putArray("anyOf");
        schema.accept(either.addObject());
        either.addObject().put("$ref", "#/$defs/environment");
    }
}
