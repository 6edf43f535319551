package dev.tidegate.bench;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * What one run of load saw. Immutable.
 *
 * @param count requests, connections or bytes within the measured window
 * @param totalCount the same over the whole run, counted by the clients; checked against what the backend counted
 * @param windowNanos the measured window
 * @param cpuMicros user and system CPU time of the watched process within the window; -1: none watched
 * @param p50Nanos median latency from the intended time of sending; 0 where latency is not measured
 * @param p99Nanos 99th percentile of the same
 * @param errors failed connects, early ends, wrong byte counts, answers that never came
 * @param firstError the first of them in words; empty without errors
 */
record LoadResult(
        long count,
        long totalCount,
        long windowNanos,
        long cpuMicros,
        long p50Nanos,
        long p99Nanos,
        long errors,
        String firstError) {
    double perSecond() {
        return count * 1e9 / windowNanos;
    }

    /** CPU microseconds of the watched process for each {@code perUnit} counted; NaN without a process or a count. */
    double cpuMicrosPer(long perUnit) {
        return cpuMicros < 0 || count == 0 ? Double.NaN : cpuMicros * (double) perUnit / count;
    }

    /** The line that {@link #parse} reads. */
    String toLine() {
        return String.join(
                " ",
                "count=" + count,
                "total=" + totalCount,
                "window-ns=" + windowNanos,
                "cpu-us=" + cpuMicros,
                "p50-ns=" + p50Nanos,
                "p99-ns=" + p99Nanos,
                "errors=" + errors,
                "first-error=" + URLEncoder.encode(firstError, StandardCharsets.UTF_8));
    }

    static LoadResult parse(String line) {
        Map<String, String> values = LoadSpec.keyValues(List.of(line.split(" ", -1)));
        return new LoadResult(
                Long.parseLong(values.get("count")),
                Long.parseLong(values.get("total")),
                Long.parseLong(values.get("window-ns")),
                Long.parseLong(values.get("cpu-us")),
                Long.parseLong(values.get("p50-ns")),
                Long.parseLong(values.get("p99-ns")),
                Long.parseLong(values.get("errors")),
                URLDecoder.decode(values.get("first-error"), StandardCharsets.UTF_8));
    }
}
