package dev.tidegate.telemetry;

import dev.tidegate.telemetry.MetricSource.View;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.ArrayList;
import java.util.List;

/**
 * One metric: its name, type, labels and meaning, and how its values are found. Immutable.
 */
final class MetricFamily {
    private static final String PREFIX = "tidegate_";
    private static final double NANOS_PER_SECOND = 1e9;

    /** What kind of numbers it shows. */
    enum Type {
        COUNTER,
        GAUGE,
        HISTOGRAM,
        INFO
    }

    /** Finds the values. */
    interface Reader {
        void read(View view, Points out);
    }

    private final Type type;
    private final String name;
    private final String help;
    private final List<String> labels;
    private final MetricMetadata metadata;
    private final Reader reader;

    private MetricFamily(Type type, String name, String help, Reader reader, String... labels) {
        this.type = type;
        this.name = PREFIX + name;
        this.help = help;
        this.reader = reader;
        this.labels = List.of(labels);
        String base = withoutEnd(withoutEnd(this.name, "_total"), "_info");
        metadata = new MetricMetadata(base, help, unit(base));
    }

    static MetricFamily counter(String name, String help, Reader reader, String... labels) {
        return new MetricFamily(Type.COUNTER, name, help, reader, labels);
    }

    static MetricFamily gauge(String name, String help, Reader reader, String... labels) {
        return new MetricFamily(Type.GAUGE, name, help, reader, labels);
    }

    static MetricFamily histogram(String name, String help, Reader reader, String... labels) {
        return new MetricFamily(Type.HISTOGRAM, name, help, reader, labels);
    }

    static MetricFamily info(String name, String help, Reader reader, String... labels) {
        return new MetricFamily(Type.INFO, name, help, reader, labels);
    }

    Type type() {
        return type;
    }

    /** The whole name, as it is scraped. */
    String name() {
        return name;
    }

    String help() {
        return help;
    }

    List<String> labels() {
        return labels;
    }

    MetricSnapshot collect(View view) {
        Points points = new Points();
        reader.read(view, points);
        return switch (type) {
            case COUNTER -> new CounterSnapshot(metadata, points.counters);
            case GAUGE -> new GaugeSnapshot(metadata, points.gauges);
            case HISTOGRAM -> new HistogramSnapshot(metadata, points.histograms);
            case INFO -> new InfoSnapshot(metadata, points.infos);
        };
    }

    private static String withoutEnd(String name, String end) {
        return name.endsWith(end) ? name.substring(0, name.length() - end.length()) : name;
    }

    private static Unit unit(String base) {
        if (base.endsWith("_seconds")) {
            return Unit.SECONDS;
        }
        return base.endsWith("_bytes") ? Unit.BYTES : null;
    }

    /** Takes the values of one scrape. */
    final class Points {
        private final List<CounterDataPointSnapshot> counters = new ArrayList<>();
        private final List<GaugeDataPointSnapshot> gauges = new ArrayList<>();
        private final List<HistogramDataPointSnapshot> histograms = new ArrayList<>();
        private final List<InfoDataPointSnapshot> infos = new ArrayList<>();

        /** Adds one value; the values of labels come in the labels' order. */
        void add(long value, String... labelValues) {
            Labels at = Labels.of(labels, List.of(labelValues));
            switch (type) {
                case COUNTER -> counters.add(new CounterDataPointSnapshot((double) value, at, null, 0));
                case GAUGE -> gauges.add(new GaugeDataPointSnapshot((double) value, at, null));
                case INFO -> infos.add(new InfoDataPointSnapshot(at));
                case HISTOGRAM -> throw new IllegalStateException(name + " is a histogram");
            }
        }

        /** Adds one value of a gauge that need not be whole. */
        void add(double value, String... labelValues) {
            if (type != Type.GAUGE) {
                throw new IllegalStateException(name + " is no gauge");
            }
            gauges.add(new GaugeDataPointSnapshot(value, Labels.of(labels, List.of(labelValues)), null));
        }

        /** Adds the sum of histograms that have the same buckets as {@code shape}. */
        void add(List<Histogram> parts, Histogram shape, String... labelValues) {
            ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
            double sumSeconds = 0;
            for (Histogram part : parts) {
                sumSeconds += part.sumSeconds();
            }
            for (int bucket = 0; bucket < shape.buckets(); bucket++) {
                long count = 0;
                for (Histogram part : parts) {
                    count += part.count(bucket);
                }
                long bound = shape.upperBoundNanos(bucket);
                buckets.bucket(bound == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : bound / NANOS_PER_SECOND, count);
            }
            histograms.add(new HistogramDataPointSnapshot(
                    buckets.build(), sumSeconds, Labels.of(labels, List.of(labelValues)), Exemplars.EMPTY, 0));
        }
    }
}
