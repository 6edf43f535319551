package dev.tidegate.config;

import java.util.List;

/** A piece of YAML with its place. Immutable. Its size counts the nodes below it, each alias as often as it is used. */
sealed interface Node {
    Mark mark();

    int size();

    /** What an operator would call it. */
    String kind();

    /** A word, number or text; {@code plain} means without quotes. */
    record Scalar(Mark mark, String text, boolean plain) implements Node {
        @Override
        public int size() {
            return 1;
        }

        @Override
        public String kind() {
            return plain ? YamlWords.kind(text) : "text";
        }
    }

    /** A list. */
    record Sequence(Mark mark, List<Node> items, int size) implements Node {
        @Override
        public String kind() {
            return "a list";
        }
    }

    /** A set of keys with their values, in file order, doubles included. */
    record Mapping(Mark mark, List<Entry> entries, int size) implements Node {
        @Override
        public String kind() {
            return "a set of keys";
        }
    }

    /** A key and its value. */
    record Entry(Scalar key, Node value) {}
}
