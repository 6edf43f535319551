package dev.tidegate.config;

import java.util.Comparator;

/**
 * A place in a file. Immutable; orders as the files are read.
 *
 * @param source which file, in the order of reading
 * @param file its name
 * @param line from 1
 * @param column from 1
 */
record Mark(int source, String file, int line, int column) implements Comparable<Mark> {
    private static final Comparator<Mark> ORDER =
            Comparator.comparingInt(Mark::source).thenComparingInt(Mark::line).thenComparingInt(Mark::column);

    @Override
    public int compareTo(Mark other) {
        return ORDER.compare(this, other);
    }

    /** How a message about another place names this one. */
    String from(Mark place) {
        return source == place.source ? "line " + line : file + ":" + line;
    }
}
