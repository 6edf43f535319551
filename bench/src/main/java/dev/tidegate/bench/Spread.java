package dev.tidegate.bench;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.DoubleStream;

/** The least, the middle and the greatest of some measured values. Immutable. */
record Spread(double min, double median, double max) {
    /** Of an even number of values the median is the mean of the middle two; of none, everything is NaN. */
    static Spread of(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        if (sorted.length == 0 || Arrays.stream(sorted).anyMatch(Double::isNaN)) {
            return new Spread(Double.NaN, Double.NaN, Double.NaN);
        }
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Spread(sorted[0], median, sorted[sorted.length - 1]);
    }

    boolean isKnown() {
        return !Double.isNaN(median);
    }

    /** {@code min–median–max} with {@code decimals} places, or a dash where nothing was measured. */
    String range(int decimals) {
        return isKnown() ? text(min, decimals) + "–" + text(median, decimals) + "–" + text(max, decimals) : "–";
    }

    String median(int decimals) {
        return isKnown() ? text(median, decimals) : "–";
    }

    private static String text(double value, int decimals) {
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }
}
