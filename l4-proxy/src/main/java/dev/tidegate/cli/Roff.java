package dev.tidegate.cli;

import java.time.LocalDate;
import java.util.Locale;
import java.util.regex.Pattern;

/** A manual page in man(7)'s language as it is written. Not for several threads. */
final class Roff {
    private static final String BOLD = "\u0001";
    private static final String ITALIC = "\u0002";
    private static final String PLAIN = "\u0003";

    private static final Pattern NOT_ASCII = Pattern.compile("[^\\x00-\\x7f]");

    private final StringBuilder out = new StringBuilder();

    /**
     * A page that has its title and nothing else yet.
     *
     * @param title of the page
     * @param section of the manual
     * @param date that it tells
     */
    Roff(String title, int section, LocalDate date) {
        macro(
                "TH",
                title.toUpperCase(Locale.ROOT),
                Integer.toString(section),
                date.toString(),
                "Tidegate " + VersionCommand.version(),
                "Tidegate Manual");
        macro("ad", "l"); // stretched lines of options are hard to read
    }

    /** Marks, which the escape of the text leaves alone. */
    String bold(String text) {
        return BOLD + text + PLAIN;
    }

    String italic(String text) {
        return ITALIC + text + PLAIN;
    }

    void macro(String name, String... arguments) {
        out.append('.').append(name);
        for (String argument : arguments) {
            // A date is read, so its hyphens must not be escaped.
            boolean plain = argument.matches("[A-Za-z0-9]+|[0-9-]+");
            out.append(plain ? " " + argument : " \"" + escaped(argument) + "\"");
        }
        out.append('\n');
    }

    /** A line of text, never taken for a request. */
    void line(String... parts) {
        String text = String.join("", parts);
        out.append(text.startsWith(".") || text.startsWith("'") ? "\\&" : "")
                .append(escaped(text))
                .append('\n');
    }

    /** A paragraph, a sentence a line, which is how the language wants it. */
    void text(String paragraph) {
        for (String sentence : paragraph.split("(?<=[a-z`)]\\.) (?=[A-Z])", -1)) {
            line(sentence);
        }
    }

    /** A term and what it means. */
    void item(String term, String meaning) {
        macro("TP");
        line(term);
        text(meaning);
    }

    /** Lines that stay as they are, set off from the text. */
    void example(String lines) {
        macro("nf");
        macro("RS", "4");
        lines.lines().forEach(this::line);
        macro("RE");
        macro("fi");
    }

    private static String escaped(String text) {
        String escaped = text.replace("\\- ", "\u0004")
                .replace("\\", "\\e")
                .replace("-", "\\-")
                .replace("`", "\\(ga")
                .replace("\"", "\\(dq")
                .replace("\u0004", "\\- ")
                .replace(BOLD, "\\fB")
                .replace(ITALIC, "\\fI")
                .replace(PLAIN, "\\fR");
        return NOT_ASCII
                .matcher(escaped)
                .replaceAll(found -> "\\\\[u%04X]".formatted(found.group().codePointAt(0)));
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
