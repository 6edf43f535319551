package dev.tidegate.bench.sim;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** Numbers in a row. Immutable. */
final class Series {
    private final double[] values;

    private Series(double[] values) {
        this.values = values;
    }

    static Series of(double... values) {
        return new Series(values.clone());
    }

    static Series of(List<Double> values) {
        return new Series(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    static Series of(long... values) {
        return new Series(Arrays.stream(values).asDoubleStream().toArray());
    }

    /** So many, each of its place. */
    static Series of(int size, IntToDoubleFunction value) {
        return new Series(IntStream.range(0, size).mapToDouble(value).toArray());
    }

    /** 0, 1, 2 and so on. */
    static Series upTo(int size) {
        return of(size, place -> place);
    }

    int size() {
        return values.length;
    }

    double at(int place) {
        return values[place];
    }

    DoubleStream stream() {
        return Arrays.stream(values);
    }

    double max() {
        return stream().max().orElseThrow();
    }

    double mean() {
        return stream().average().orElseThrow();
    }
}
