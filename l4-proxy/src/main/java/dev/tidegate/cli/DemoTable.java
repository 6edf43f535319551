package dev.tidegate.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Puts what the demo shows into words: a table that is drawn over itself in a terminal, or one plain line for each look.
 *
 * <p>Confined to the thread that prints.
 */
final class DemoTable {
    private static final int BAR_WIDTH = 24;
    private static final String UP_ONE_LINE = "\033[1A";
    private static final String CLEAR_TO_LINE_END = "\033[K";
    /** A line that a narrow terminal wrapped would be two, and drawing over it would miss. */
    private static final String CUT_LONG_LINES = "\033[?7l";

    private static final String WRAP_LONG_LINES = "\033[?7h";

    private final boolean terminal;
    private DemoView before;
    private int linesDrawn;

    /**
     * @param terminal whether what is printed can be drawn over
     */
    DemoTable(boolean terminal) {
        this.terminal = terminal;
    }

    /** What to print for this look, line ends included. */
    String draw(DemoView view) {
        String drawn = terminal ? redrawn(lines(view)) : plain(view) + System.lineSeparator();
        before = view;
        return drawn;
    }

    private String redrawn(List<String> lines) {
        StringBuilder text = new StringBuilder(UP_ONE_LINE.repeat(linesDrawn)).append(CUT_LONG_LINES);
        lines.forEach(line -> text.append(line).append(CLEAR_TO_LINE_END).append('\n'));
        linesDrawn = lines.size();
        return text.append(WRAP_LONG_LINES).toString();
    }

    private List<String> lines(DemoView view) {
        List<String> lines = new ArrayList<>();
        lines.add(format(
                "%-10s %-" + (BAR_WIDTH + 4) + "s %5s %9s %8s %11s",
                "endpoint",
                "in-flight",
                "share",
                "connects",
                "refused",
                "requests/s"));
        int most = Math.max(
                1,
                view.endpoints().stream().mapToInt(DemoView.Row::inFlight).max().orElse(1));
        for (int i = 0; i < view.endpoints().size(); i++) {
            DemoView.Row row = view.endpoints().get(i);
            lines.add(format(
                    "%-10s %-" + BAR_WIDTH + "s %3d %4d%% %9d %8d %11.0f",
                    row.label(),
                    "#".repeat(Math.min(BAR_WIDTH, BAR_WIDTH * row.inFlight() / Math.max(BAR_WIDTH, most))),
                    row.inFlight(),
                    view.sharePercent(row),
                    row.connects(),
                    row.refused(),
                    requestsPerSecond(view, i)));
        }
        lines.add("");
        lines.add(format(
                "%d s: %d requests, %d failed; latency p50 %.2f ms, p99 %.2f ms",
                TimeUnit.NANOSECONDS.toSeconds(view.elapsedNanos()),
                view.totals().answered(),
                view.totals().failed(),
                millis(view.totals().p50Nanos()),
                millis(view.totals().p99Nanos())));
        lines.add(format(
                "%d that never leave, by endpoint: %s; with max-age: %s",
                DemoCrowd.FEW,
                places(view.sticky().without()),
                places(view.sticky().with())));
        lines.add(view.news());
        return lines;
    }

    private String plain(DemoView view) {
        StringBuilder text = new StringBuilder();
        if (before == null || !sameNews(before.news(), view.news())) {
            text.append("       ").append(view.news()).append(System.lineSeparator());
        }
        text.append(format("%4d s", TimeUnit.NANOSECONDS.toSeconds(view.elapsedNanos())));
        for (int i = 0; i < view.endpoints().size(); i++) {
            DemoView.Row row = view.endpoints().get(i);
            text.append(format(
                    " | %s: %2d in flight (%2d%%), %3.0f req/s",
                    row.label(), row.inFlight(), view.sharePercent(row), requestsPerSecond(view, i)));
        }
        return text.append(format(
                        " | %d requests, %d failed, p50 %.1f ms, p99 %.1f ms",
                        view.totals().answered(),
                        view.totals().failed(),
                        millis(view.totals().p50Nanos()),
                        millis(view.totals().p99Nanos())))
                .append(format(
                        " | %d that never leave: %s; with max-age: %s",
                        DemoCrowd.FEW,
                        places(view.sticky().without()),
                        places(view.sticky().with())))
                .toString();
    }

    /** News that counts seconds down is news once only. */
    private static boolean sameNews(String a, String b) {
        return a.replaceAll("[0-9]+", "").equals(b.replaceAll("[0-9]+", ""));
    }

    private double requestsPerSecond(DemoView view, int endpoint) {
        if (before == null) {
            return 0;
        }
        long nanos = Math.max(1, view.elapsedNanos() - before.elapsedNanos());
        // One that has joined since has no row from before.
        long then = endpoint < before.endpoints().size()
                ? before.endpoints().get(endpoint).requests()
                : 0;
        long requests = view.endpoints().get(endpoint).requests() - then;
        return requests * 1e9 / nanos;
    }

    /** The closing paragraph. */
    static String closing(DemoView view) {
        List<String> lines = new ArrayList<>();
        lines.add(format(
                "In %d s, %d connections carried %d requests through Tidegate; %d failed.",
                TimeUnit.NANOSECONDS.toSeconds(view.elapsedNanos()),
                view.totals().connections(),
                view.totals().answered(),
                view.totals().failed()));
        lines.add(view.endpoints().stream()
                        .map(row -> row.name() + " took " + row.connects())
                        .collect(Collectors.joining(", "))
                + " of the connections.");
        if (view.refused() > 0) {
            lines.add(format(
                    "While its port was closed, an endpoint refused %d connects; %d attempts moved on to another",
                    view.refused(), view.movedOn()));
            lines.add("endpoint, before the client had sent it anything that could be lost.");
        }
        if (view.left() + view.cut() > 0) {
            lines.add(format(
                    "Of the connections on the endpoint that was drained, %d left between two requests, %d were cut;",
                    view.left(), view.cut()));
            lines.add("the others left by themselves.");
        }
        lines.addAll(sticky(view.sticky()));
        lines.add("Next: bin/tidegate run --config examples/minimal.yaml, docs/architecture.md for how it is built,");
        lines.add("docs/operations.md for how it is run.");
        return String.join(System.lineSeparator(), lines);
    }

    /** Before and after: what a limit on the age does for connections that never end by themselves. */
    private static List<String> sticky(DemoSticky.View sticky) {
        if (!sticky.joined()) {
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        lines.add(format(
                "%d more clients, of HTTP/2, never left by themselves. All were on a when b, c and d joined. Without a limit",
                DemoCrowd.FEW));
        lines.add(format(
                "they stayed there (%s on a, b, c, d). With max-age %s they were spread (%s)",
                places(sticky.without()), sticky.maxAge(), places(sticky.with())));
        lines.add(format(
                "%s; %d connections took over from one another, %d by GOAWAY; %d requests were answered, %d failed.",
                sticky.spreadNanos() < 0 ? "at the end" : format("%.1f s after that", sticky.spreadNanos() / 1e9),
                sticky.totals().connections(),
                sticky.totals().toldToGo(),
                sticky.totals().answered(),
                sticky.totals().failed()));
        return lines;
    }

    private static String places(List<Integer> inFlight) {
        return inFlight.stream().map(String::valueOf).collect(Collectors.joining("/"));
    }

    private static double millis(long nanos) {
        return nanos / 1e6;
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
