package dev.tidegate.config;

import java.util.Optional;

/** What reading one configuration needs at every step. Confined to the thread that reads. */
record Reading(Problems problems, Environment environment) {
    /** The word, number or text of a value, variables put in; nothing if it is something else, with the problem told. */
    Optional<Word> word(Node node, KeyPath path, String expected) {
        if (!(node instanceof Node.Scalar scalar)) {
            problems.error(node.mark(), path, "this is " + node.kind(), "write " + expected);
            return Optional.empty();
        }
        if (scalar.plain() && scalar.kind().equals(YamlWords.NOTHING)) {
            problems.error(node.mark(), path, "there is no value", "write " + expected + ", or remove the key");
            return Optional.empty();
        }
        try {
            String text = environment.expand(scalar.text());
            return Optional.of(new Word(text, scalar.kind(), scalar.plain(), !text.equals(scalar.text())));
        } catch (InvalidValue e) {
            problems.error(node.mark(), path, e);
            return Optional.empty();
        }
    }

    /** A value's text; {@code kind} is what YAML takes it for. */
    record Word(String text, String kind, boolean plain, boolean substituted) {
        /** Whether it is text by itself: not a number or truth value that only looks so. */
        boolean isText() {
            return substituted || kind.equals(YamlWords.TEXT);
        }

        /** Whether quotes make text of what should be a number; a variable needs them in {@code {…}}. */
        boolean isQuoted() {
            return !plain && !substituted;
        }
    }
}
