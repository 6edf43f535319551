package dev.tidegate.bench.sim;

import java.util.Locale;

/**
 * One figure to be reproduced: what was expected, what came, and how far apart they may be. Immutable.
 *
 * @param id where it is from
 * @param what it is
 * @param expected as written there
 * @param got here
 * @param tolerance within which it passes
 * @param passes whether it does
 */
record Figure(String id, String what, String expected, String got, String tolerance, boolean passes) {
    /** Within a share of what is expected. */
    static Figure near(String id, String what, double expected, double got, double tolerance) {
        return new Figure(
                id,
                what,
                number(expected),
                number(got),
                "±" + percent(tolerance),
                Math.abs(got / expected - 1) <= tolerance);
    }

    /** Within a share of what is expected; the standard error of what came is told beside. */
    static Figure near(String id, String what, double expected, double got, double error, double tolerance) {
        return new Figure(
                id,
                what,
                number(expected),
                number(got) + " ± " + number(error),
                "±" + percent(tolerance),
                Math.abs(got / expected - 1) <= tolerance);
    }

    /** Within a distance of what is expected. */
    static Figure within(String id, String what, double expected, double got, double distance) {
        return new Figure(
                id, what, number(expected), number(got), "±" + number(distance), Math.abs(got - expected) <= distance);
    }

    /** The same. */
    static Figure exactly(String id, String what, long expected, long got) {
        return new Figure(
                id,
                what,
                String.format(Locale.ROOT, "%,d", expected),
                String.format(Locale.ROOT, "%,d", got),
                "exact",
                expected == got);
    }

    /** No more than that. */
    static Figure atMost(String id, String what, double most, double got) {
        return new Figure(id, what, "≤ " + number(most), number(got), "bound", got <= most);
    }

    /** At least that. */
    static Figure atLeast(String id, String what, double least, double got) {
        return new Figure(id, what, "≥ " + number(least), number(got), "bound", got >= least);
    }

    /** Each below the next. */
    static Figure rising(String id, String what, String expected, double... values) {
        StringBuilder got = new StringBuilder();
        boolean rises = true;
        for (int i = 0; i < values.length; i++) {
            got.append(i == 0 ? "" : " < ").append(number(values[i]));
            rises &= i == 0 || values[i - 1] < values[i];
        }
        return new Figure(id, what, expected, rises ? got.toString() : got + " (not so)", "strict", rises);
    }

    /** With as many digits as say something. */
    static String number(double value) {
        double size = Math.abs(value);
        int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 0.1 || size == 0 ? 3 : 5;
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }

    static String percent(double share) {
        return String.format(Locale.ROOT, share * 100 % 1 == 0 ? "%.0f %%" : "%.1f %%", share * 100);
    }
}
