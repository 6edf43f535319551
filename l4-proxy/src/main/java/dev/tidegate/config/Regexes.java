package dev.tidegate.config;

import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Regular expressions that compile. Stateless. */
final class Regexes {
    /** How much work a match takes cannot be told beforehand; how much there is to match with can be bounded. */
    static final int LENGTH_MAX = 1_000;

    /** Deep nesting takes stack, and how much there is differs from thread to thread. */
    private static final int BRACKETS_MAX = 100;

    /** With these it depends on what is around whether nothing at all is found somewhere. */
    private static final Pattern LOOKS_AROUND = Pattern.compile("[$^]|\\\\[bBAzZG]|\\(\\?<?[=!]");

    private static final Set<String> ANYTHING = Set.of("^", "$", "^.*", ".*$", "^.*$");

    private Regexes() {}

    static String read(String text) throws InvalidValue {
        if (text.isEmpty()) {
            throw new InvalidValue("the expression is empty and found in anything", "write what shall be found");
        }
        if (text.length() > LENGTH_MAX) {
            throw new InvalidValue(
                    "the expression has " + text.length() + " characters",
                    "write at most " + LENGTH_MAX + ", it takes only as many as tell answers apart");
        }
        long brackets = text.chars().filter(c -> c == '(' || c == '[').count();
        if (brackets > BRACKETS_MAX) {
            throw new InvalidValue(
                    "the expression has " + brackets + " opening brackets", "write at most " + BRACKETS_MAX);
        }
        try {
            Pattern pattern = Pattern.compile(text);
            boolean needsNothing = pattern.matcher("").find();
            if (needsNothing
                    && (ANYTHING.contains(text) || !LOOKS_AROUND.matcher(text).find())) {
                throw new InvalidValue(
                        Text.quote(text) + " needs no character and is found in anything", "write what shall be found");
            }
        } catch (PatternSyntaxException e) {
            String place = e.getIndex() < 0 ? "" : " at character " + (e.getIndex() + 1);
            throw new InvalidValue(
                    Text.quote(text) + " is no regular expression: " + e.getDescription() + place,
                    "mend it; a backslash before a character takes its meaning away");
        }
        return text;
    }
}
