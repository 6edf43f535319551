package dev.tidegate.config;

import java.util.regex.Pattern;

/** What YAML 1.2's core schema takes a word without quotes for. Stateless. */
final class YamlWords {
    static final String NOTHING = "nothing";
    static final String TEXT = "text";

    private static final int NUMBER_MAX = 400;
    private static final Pattern NULL = Pattern.compile("|~|null|Null|NULL");
    private static final Pattern TRUTH = Pattern.compile("true|True|TRUE|false|False|FALSE");
    private static final Pattern NUMBER = Pattern.compile("0o[0-7]+|0x[0-9A-Fa-f]+"
            + "|[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)");

    private YamlWords() {}

    static String kind(String plain) {
        if (NULL.matcher(plain).matches()) {
            return NOTHING;
        }
        if (TRUTH.matcher(plain).matches()) {
            return "a truth value";
        }
        return plain.length() <= NUMBER_MAX && NUMBER.matcher(plain).matches() ? "a number" : TEXT;
    }
}
