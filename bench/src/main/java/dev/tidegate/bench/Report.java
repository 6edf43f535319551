package dev.tidegate.bench;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** The tables, in Markdown so that they can go into the documentation as they are. */
final class Report {
    private final StringBuilder text = new StringBuilder();

    /** Where and how it was measured, one line a fact. */
    Report environment(Map<String, String> facts) {
        facts.forEach((name, value) ->
                text.append("- ").append(name).append(": ").append(value).append('\n'));
        text.append('\n');
        return this;
    }

    /** CPU of the proxy for each unit, its ratio to the reference, and how much got through. */
    Report cost(Scenario scenario, List<String> subjects, Measurements measured, String reference, int connections) {
        ToDoubleFunction<LoadResult> cost = result -> result.cpuMicrosPer(scenario.perUnit());
        heading(title(scenario, connections));
        row("", "CPU µs per " + scenario.unit(), "ratio to " + reference, scenario.unit() + scenario.plural() + "/s");
        row("---", "---:", "---:", "---:");
        for (String subject : subjects) {
            row(
                    subject,
                    measured.spread(scenario, subject, cost).median(2),
                    measured.ratio(scenario, subject, reference, cost).range(2),
                    measured.spread(scenario, subject, result -> result.perSecond() / scenario.perUnit())
                            .median(0));
        }
        text.append('\n');
        return this;
    }

    /** Latency from the intended time of sending. */
    Report latency(List<String> subjects, Measurements measured, String reference, int rate, String rateReason) {
        Scenario scenario = Scenario.LATENCY;
        heading(String.format(Locale.ROOT, "Latency of 64 bytes at %,d a second (%s), open loop", rate, rateReason));
        row("", "p50 µs", "ratio to " + reference, "p99 µs", "ratio to " + reference, "CPU µs per request");
        row("---", "---:", "---:", "---:", "---:", "---:");
        for (String subject : subjects) {
            row(
                    subject,
                    measured.spread(scenario, subject, result -> result.p50Nanos() / 1e3)
                            .median(0),
                    measured.ratio(scenario, subject, reference, LoadResult::p50Nanos)
                            .range(2),
                    measured.spread(scenario, subject, result -> result.p99Nanos() / 1e3)
                            .median(0),
                    measured.ratio(scenario, subject, reference, LoadResult::p99Nanos)
                            .range(2),
                    measured.spread(scenario, subject, result -> result.cpuMicrosPer(1))
                            .median(2));
        }
        text.append('\n');
        return this;
    }

    /** Memory that each idle connection adds. */
    Report memory(List<MemorySlope> slopes, String reference) {
        heading("Anonymous memory for each idle proxied connection");
        row("", "bytes per connection", "ratio to " + reference, "R²", "readings, MiB");
        row("---", "---:", "---:", "---:", "---");
        double base = slopes.stream()
                .filter(slope -> slope.subject().equals(reference))
                .mapToDouble(MemorySlope::bytesPerConnection)
                .findFirst()
                .orElse(Double.NaN);
        for (MemorySlope slope : slopes) {
            double ratio = slope.bytesPerConnection() / base;
            row(
                    slope.subject(),
                    String.format(Locale.ROOT, "%,.0f", slope.bytesPerConnection()),
                    Double.isNaN(ratio) ? "–" : String.format(Locale.ROOT, "%.2f", ratio),
                    String.format(Locale.ROOT, "%.4f", slope.determination()),
                    slope.readings().stream()
                            .map(reading -> String.format(
                                    Locale.ROOT, "%d: %.1f", reading.connections(), reading.bytes() / 1048576.0))
                            .collect(Collectors.joining(", ")));
        }
        text.append('\n');
        return this;
    }

    @Override
    public String toString() {
        return text.toString();
    }

    private static String title(Scenario scenario, int connections) {
        String what =
                switch (scenario) {
                    case SMALL -> "Small request: 64 bytes there and back, %d kept connections, closed loop";
                    case HTTP1 -> "HTTP/1: a request and a response of 64 bytes each, %d kept connections, closed loop";
                    case CONNECT -> "Connection: connect, 64 bytes there and back, FIN both ways, %d at once";
                    case ARRIVE ->
                        "Arrivals: connect, 64 bytes there and back, FIN both ways, %d in all at a fixed rate";
                    case BULK -> "Bulk: %d streams from the endpoint to the client";
                    case UPLOAD -> "Bulk: %d streams from the client to the endpoint";
                    case LATENCY -> "Latency, %d kept connections";
                };
        return String.format(Locale.ROOT, what, connections);
    }

    private void heading(String heading) {
        text.append("### ").append(heading).append("\n\n");
    }

    private void row(String... cells) {
        text.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }
}
