package dev.tidegate.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
    Report cost(Trial trial, List<String> subjects, Measurements measured, String reference) {
        Scenario scenario = trial.scenario();
        ToDoubleFunction<LoadResult> cost = result -> result.cpuMicrosPer(scenario.perUnit());
        heading(trial.title());
        row("", "CPU µs per " + scenario.unit(), "ratio to " + reference, scenario.unit() + scenario.plural() + "/s");
        row("---", "---:", "---:", "---:");
        for (String subject : subjects) {
            row(
                    subject,
                    measured.spread(trial, subject, cost).median(2),
                    measured.ratio(trial, subject, reference, cost).range(2),
                    measured.spread(trial, subject, result -> result.perSecond() / scenario.perUnit())
                            .median(0));
        }
        text.append('\n');
        return this;
    }

    /**
     * Latency from the intended time of sending.
     *
     * @param circumstances how fast messages came, in words
     */
    Report latency(Trial trial, List<String> subjects, Measurements measured, String reference, String circumstances) {
        heading(trial.title() + ", " + circumstances);
        String unit = trial.scenario().unit();
        row("", "p50 µs", "ratio to " + reference, "p99 µs", "ratio to " + reference, "CPU µs per " + unit);
        row("---", "---:", "---:", "---:", "---:", "---:");
        for (String subject : subjects) {
            row(
                    subject,
                    measured.spread(trial, subject, result -> result.p50Nanos() / 1e3)
                            .median(0),
                    measured.ratio(trial, subject, reference, LoadResult::p50Nanos)
                            .range(2),
                    measured.spread(trial, subject, result -> result.p99Nanos() / 1e3)
                            .median(0),
                    measured.ratio(trial, subject, reference, LoadResult::p99Nanos)
                            .range(2),
                    measured.spread(trial, subject, result -> result.cpuMicrosPer(1))
                            .median(2));
        }
        text.append('\n');
        return this;
    }

    /** What was aimed for, and how it stands; nothing of what was not measured. */
    Report targets(List<Trial> trials, Measurements measured) {
        table(
                "Targets, as ratios to " + Subject.HAPROXY + " (median of the rounds)",
                List.of("", "better of io_uring and epoll", "must", "aim", "epoll", "aim on epoll"),
                Target.ALL.stream()
                        .filter(target -> trials.contains(Trial.named(target.trial())))
                        .filter(target -> !Double.isNaN(ratio(target, measured, Transport.IO_URING))
                                || !Double.isNaN(ratio(target, measured, Transport.EPOLL)))
                        .map(target -> target.row(
                                ratio(target, measured, Transport.IO_URING), ratio(target, measured, Transport.EPOLL)))
                        .toList());
        table(
                "Targets, as ratios to the bare forwarder on the same transport (least–median–greatest; the median counts)",
                List.of("", "transport", "ratio", "must", "aim"),
                BareTarget.of(trials).stream()
                        .filter(target -> target.ratio(measured).isKnown())
                        .map(target -> target.row(target.ratio(measured)))
                        .toList());
        return this;
    }

    private static double ratio(Target target, Measurements measured, Transport transport) {
        return measured.ratio(
                        Trial.named(target.trial()),
                        NettySubject.tidegate(transport).name(),
                        Subject.HAPROXY,
                        target.value())
                .median();
    }

    /** The first column is words, the others are figures; nothing at all where there are no rows. */
    private void table(String heading, List<String> columns, List<List<String>> rows) {
        if (rows.isEmpty()) {
            return;
        }
        heading(heading);
        row(columns.toArray(String[]::new));
        row(Stream.concat(Stream.of("---"), columns.stream().skip(1).map(column -> "---:"))
                .toArray(String[]::new));
        rows.forEach(cells -> row(cells.toArray(String[]::new)));
        text.append('\n');
    }

    /** How cost grows with something. */
    Report growth(Growth.Grown grown, List<String> subjects) {
        Growth growth = grown.growth();
        heading(growth.title());
        row(Stream.concat(
                        Stream.of(growth.word()),
                        subjects.stream().map(subject -> subject + ", µs per " + growth.unit()))
                .toArray(String[]::new));
        row(Stream.concat(Stream.of("---:"), subjects.stream().map(subject -> "---:"))
                .toArray(String[]::new));
        for (int size : growth.sizes()) {
            row(Stream.concat(
                            Stream.of(String.format(Locale.ROOT, "%,d", size)),
                            subjects.stream()
                                    .map(subject -> grown.cost(subject, size).range(2)))
                    .toArray(String[]::new));
        }
        text.append('\n');
        return this;
    }

    /** What is asked of the kernel for each connection. */
    Report calls(List<CallMeter.Calls> counted) {
        heading("Calls of the kernel for each connection (strace -c)");
        row("", "in all", "which");
        row("---", "---:", "---");
        for (CallMeter.Calls calls : counted) {
            row(
                    calls.subject(),
                    String.format(Locale.ROOT, "%.1f", calls.perConnection()),
                    calls.calls().keySet().stream()
                            .filter(name -> calls.perConnection(name) >= 0.05)
                            .map(name -> String.format(Locale.ROOT, "%s %.1f", name, calls.perConnection(name)))
                            .collect(Collectors.joining(", ")));
        }
        text.append('\n');
        return this;
    }

    /** Memory that each connection adds while it does {@code what}. */
    Report memory(String what, List<MemorySlope> slopes, String reference) {
        heading("Anonymous memory for each " + what);
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

    /** What a JVM allocates on its heap. */
    Report allocation(List<AllocationMeter.Allocated> measured) {
        table(
                "Bytes that a JVM allocates on its heap (its own counters, all threads)",
                List.of("", "per connection", "per message there and back, kept connections"),
                measured.stream()
                        .map(allocated -> List.of(
                                allocated.subject(),
                                String.format(Locale.ROOT, "%,.0f", allocated.bytesPerConnection()),
                                String.format(Locale.ROOT, "%,.2f", allocated.bytesPerMessage())))
                        .toList());
        return this;
    }

    /** How Tidegate starts; a ratio is to the start of the same Java and the same round that has neither archive nor warm-up. */
    Report starts(Map<StartMeter.Way, List<StartMeter.Figures>> figures) {
        List<List<String>> rows = new ArrayList<>();
        figures.forEach((way, mine) -> {
            List<StartMeter.Figures> plain = figures.get(way.plain());
            rows.add(List.of(
                    way.title(),
                    spread(mine, StartMeter.Figures::readyMillis).range(0),
                    ratio(mine, plain, StartMeter.Figures::readyMillis).range(2),
                    spread(mine, StartMeter.Figures::p50Millis).range(2),
                    spread(mine, StartMeter.Figures::p99Millis).range(1),
                    ratio(mine, plain, StartMeter.Figures::p99Millis).range(2),
                    spread(mine, StartMeter.Figures::firstPerSecond).range(0),
                    spread(mine, StartMeter.Figures::share).range(2)));
        });
        table(
                "From start to warm (least–median–greatest; ratios within a round, to the first row of the same Java)",
                List.of(
                        "",
                        "ready, ms",
                        "ratio",
                        "p50 of the first 1,000, ms",
                        "p99, ms",
                        "ratio",
                        "first second, connections/s",
                        "of the steady rate"),
                rows);
        return this;
    }

    private static Spread spread(List<StartMeter.Figures> figures, ToDoubleFunction<StartMeter.Figures> of) {
        return Spread.of(figures.stream().mapToDouble(of));
    }

    private static Spread ratio(
            List<StartMeter.Figures> mine, List<StartMeter.Figures> base, ToDoubleFunction<StartMeter.Figures> of) {
        return Spread.of(IntStream.range(0, mine.size())
                .mapToDouble(round -> of.applyAsDouble(mine.get(round)) / of.applyAsDouble(base.get(round))));
    }

    @Override
    public String toString() {
        return text.toString();
    }

    private void heading(String heading) {
        text.append("### ").append(heading).append("\n\n");
    }

    private void row(String... cells) {
        text.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }
}
