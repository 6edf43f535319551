package dev.tidegate.control;

import dev.tidegate.config.Config;
import java.util.List;
import java.util.Locale;

/**
 * What differs between two configurations in what they mean: effective values are compared, so a default written out is no
 * difference, nor is another order of frontends, backends, endpoints or listeners. Immutable.
 *
 * @param changes in a fixed order: the process, the admin API, logs, frontends, backends; elements of a list in the order
 *     of the newer configuration, those removed after them
 */
public record ConfigDiff(List<Change> changes) {
    private static final int SHOWN_MAX = 2_000;

    /** No difference. */
    public static final ConfigDiff NONE = new ConfigDiff(List.of());

    /** Copies the list. */
    public ConfigDiff {
        changes = List.copyOf(changes);
    }

    /** A value as it is shown to a person: one of thousands of endpoints is cut short, so that its line can be read. */
    public static String brief(String value) {
        return value.length() <= SHOWN_MAX ? value : value.substring(0, SHOWN_MAX) + "…";
    }

    /** What happened to a value. */
    public enum Op {
        /** It was not there before. */
        ADD,
        /** It is no longer there. */
        REMOVE,
        /** It is another. */
        CHANGE;

        /** The word as answers show it. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** When a change takes effect. */
    public enum Applies {
        /** At once, by a reload. */
        LIVE,
        /** At the next start of the process. */
        RESTART;

        /** The word as answers show it. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * One difference.
     *
     * @param op what happened
     * @param path where, as problems name it: list elements by their names
     * @param from the value before, in the configuration's words; empty when added
     * @param to the value after; empty when removed
     * @param applies when it takes effect
     * @param connections how many open connections it retires
     */
    public record Change(Op op, String path, String from, String to, Applies applies, int connections) {
        /** One line for a log. */
        @Override
        public String toString() {
            String values =
                    switch (op) {
                        case ADD -> " " + brief(to);
                        case REMOVE -> "";
                        case CHANGE -> " from " + brief(from) + " to " + brief(to);
                    };
            return op.word() + " " + path + values
                    + (applies == Applies.RESTART ? ", at the next start" : "")
                    + (connections > 0 ? ", retires connections: " + connections : "");
        }
    }

    /**
     * Compares what is in force with what shall be.
     *
     * @param adoptsSockets whether the running process can take sockets from systemd: one that cannot takes them at its
     *     next start
     */
    public static ConfigDiff between(Config before, Config after, OpenConnections open, boolean adoptsSockets) {
        return new ConfigDiff(new ConfigComparison(open, adoptsSockets).compare(before, after));
    }

    /** What a reload applies. */
    public List<Change> live() {
        return only(Applies.LIVE);
    }

    /** What waits for the next start. */
    public List<Change> atRestart() {
        return only(Applies.RESTART);
    }

    private List<Change> only(Applies applies) {
        return changes.stream().filter(change -> change.applies() == applies).toList();
    }
}
