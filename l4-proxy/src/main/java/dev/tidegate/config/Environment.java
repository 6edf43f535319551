package dev.tidegate.config;

import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Puts environment variables into values: a dollar sign and a name in braces, where {@code :-} and a default may follow
 * the name for a variable that is unset or empty. A second dollar sign before takes the meaning away. Immutable if the
 * lookup is.
 */
final class Environment {
    static final String PATTERN = "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}";

    private static final Pattern BODY = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?", Pattern.DOTALL);

    private final UnaryOperator<String> lookup;

    Environment(UnaryOperator<String> lookup) {
        this.lookup = lookup;
    }

    String expand(String text) throws InvalidValue {
        int dollar = text.indexOf("${");
        if (dollar < 0) {
            return text;
        }
        StringBuilder expanded = new StringBuilder();
        int done = 0;
        while (dollar >= 0) {
            int next;
            if (dollar > done && text.charAt(dollar - 1) == '$') {
                expanded.append(text, done, dollar - 1).append("${");
                next = dollar + 2;
            } else {
                int close = text.indexOf('}', dollar);
                if (close < 0) {
                    throw new InvalidValue(Text.quote(text) + " has ${ without }", "write ${NAME} or ${NAME:-default}");
                }
                expanded.append(text, done, dollar).append(value(text.substring(dollar + 2, close)));
                next = close + 1;
            }
            if (expanded.length() > YamlTree.SCALAR_MAX) {
                throw new InvalidValue(
                        Text.quote(text) + " gives more than " + YamlTree.SCALAR_MAX + " characters",
                        "make it shorter");
            }
            done = next;
            dollar = text.indexOf("${", done);
        }
        return expanded.append(text, done, text.length()).toString();
    }

    private String value(String body) throws InvalidValue {
        Matcher matcher = BODY.matcher(body);
        if (!matcher.matches()) {
            throw new InvalidValue(
                    Text.quote("${" + body + "}") + " names no variable", "write ${NAME} or ${NAME:-default}");
        }
        String name = matcher.group(1);
        String value = lookup.apply(name);
        if (matcher.group(2) != null) {
            return value == null || value.isEmpty() ? matcher.group(3) : value;
        }
        if (value == null) {
            throw new InvalidValue(
                    "environment variable " + name + " is not set", "set it, or write ${" + name + ":-default}");
        }
        return value;
    }
}
