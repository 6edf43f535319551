package dev.tidegate.bench.sim;

import java.util.Arrays;

/**
 * The mean of some values and how far they lie from it. Immutable.
 *
 * @param mean of all
 * @param deviation the standard deviation of one
 * @param count of values
 */
record Moments(double mean, double deviation, int count) {
    static Moments of(double... values) {
        double mean = Arrays.stream(values).average().orElse(Double.NaN);
        double squares =
                Arrays.stream(values).map(each -> (each - mean) * (each - mean)).sum();
        double deviation = values.length < 2 ? Double.NaN : Math.sqrt(squares / (values.length - 1));
        return new Moments(mean, deviation, values.length);
    }

    /** Of the mean. */
    double standardError() {
        return deviation / Math.sqrt(count);
    }
}
