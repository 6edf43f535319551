package dev.tidegate.telemetry;

import dev.tidegate.model.Snapshot;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * All metrics as text. Nothing is counted here: at each scrape the rows of all workers are summed for what the current
 * snapshot holds, so series of a removed endpoint go with it, while totals of a frontend stay.
 *
 * <p>Safe from any thread, one scrape at a time.
 */
public final class Metrics {
    /** The text in which metrics are written. */
    public enum Format {
        /** Prometheus text exposition, version 0.0.4. */
        PROMETHEUS_TEXT,
        /** OpenMetrics text, version 1.0. */
        OPENMETRICS
    }

    private final ExpositionFormatWriter prometheusText = PrometheusTextFormatWriter.create();
    private final ExpositionFormatWriter openMetrics = OpenMetricsTextFormatWriter.create();
    private final PrometheusRegistry registry = new PrometheusRegistry();

    /**
     * @param snapshot gives the current snapshot
     * @param workers the counters of all workers
     * @param reloads how reloads came out
     * @param accessLog counts its drops
     * @param version of this build
     * @param nanoTime monotonic time, in nanoseconds
     */
    public Metrics(
            Supplier<Snapshot> snapshot,
            List<WorkerCounters> workers,
            ReloadCounts reloads,
            AccessLog accessLog,
            String version,
            LongSupplier nanoTime) {
        MetricSource source = new MetricSource(snapshot, List.copyOf(workers), reloads, accessLog, version, nanoTime);
        registry.register(new MultiCollector() {
            @Override
            public MetricSnapshots collect() {
                return MetricFamilies.collect(source.read());
            }
        });
        JvmMetrics.builder().register(registry);
    }

    /**
     * Writes the current values.
     *
     * @param format in which text
     * @param out where to; not closed
     * @throws IOException when {@code out} does
     */
    public synchronized void write(Format format, OutputStream out) throws IOException {
        ExpositionFormatWriter writer =
                switch (format) {
                    case PROMETHEUS_TEXT -> prometheusText;
                    case OPENMETRICS -> openMetrics;
                };
        writer.write(out, registry.scrape());
    }
}
