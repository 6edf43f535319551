package dev.tidegate.bench.chart;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** Numbers in a row. Immutable. */
public final class Series {
    private final double[] values;

    private Series(double[] values) {
        this.values = values;
    }

    public static Series of(double... values) {
        return new Series(values.clone());
    }

    public static Series of(List<Double> values) {
        return new Series(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    public static Series of(long... values) {
        return new Series(Arrays.stream(values).asDoubleStream().toArray());
    }

    /** So many, each of its place. */
    public static Series of(int size, IntToDoubleFunction value) {
        return new Series(IntStream.range(0, size).mapToDouble(value).toArray());
    }

    /** 0, 1, 2 and so on. */
    public static Series upTo(int size) {
        return of(size, place -> place);
    }

    public int size() {
        return values.length;
    }

    public double at(int place) {
        return values[place];
    }

    public DoubleStream stream() {
        return Arrays.stream(values);
    }

    public double max() {
        return stream().max().orElseThrow();
    }

    public double mean() {
        return stream().average().orElseThrow();
    }
}
