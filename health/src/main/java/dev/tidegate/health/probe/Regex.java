package dev.tidegate.health.probe;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A regular expression as a value: equal when the texts are. Compiled once. Immutable. */
public final class Regex {
    private final String text;
    private final Pattern pattern;

    private Regex(String text) {
        this.text = text;
        pattern = Pattern.compile(text);
    }

    /**
     * From the text.
     *
     * @throws java.util.regex.PatternSyntaxException if it is none
     */
    public static Regex of(String text) {
        return new Regex(text);
    }

    /**
     * Where in the text the first thing found ends; -1 if there is nothing.
     *
     * @throws TooMuchWork if it takes more than {@code effort} has left
     */
    int endOfFound(String in, Effort effort) throws TooMuchWork {
        Matcher matcher = pattern.matcher(new Metered(in, effort));
        return isFound(matcher) ? matcher.end() : -1;
    }

    /**
     * Whether it is found in a text; in one that may go on ({@code last} is false), whether it is found whatever follows: an
     * expression may ask for the end, or for something to be absent.
     *
     * @throws TooMuchWork if it takes more than {@code effort} has left
     */
    boolean isFound(String in, boolean last, Effort effort) throws TooMuchWork {
        Matcher matcher = pattern.matcher(new Metered(in, effort));
        return isFound(matcher) && (last || !matcher.hitEnd());
    }

    private boolean isFound(Matcher matcher) throws TooMuchWork {
        try {
            return matcher.find();
        } catch (Spent | StackOverflowError e) {
            throw new TooMuchWork(this, e);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Regex that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "/" + text + "/";
    }

    /** How many characters one check may look at. An expression that tries everything would hold all other checks up. */
    static final class Effort {
        static final int LOOKS_MAX = 8_000_000;

        private int left = LOOKS_MAX;

        private void spend() {
            if (--left < 0) {
                throw new Spent();
            }
        }
    }

    /** An expression that takes more work than a check may do. */
    static final class TooMuchWork extends Exception {
        private static final long serialVersionUID = 1;

        TooMuchWork(Regex regex, Throwable cause) {
            super("looking for " + regex + " in what came takes too much work; write a simpler expression", cause);
        }
    }

    private static final class Spent extends RuntimeException {
        private static final long serialVersionUID = 1;

        Spent() {
            super("no effort left", null, false, false);
        }
    }

    private record Metered(String text, Effort effort) implements CharSequence {
        @Override
        public char charAt(int index) {
            effort.spend();
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
