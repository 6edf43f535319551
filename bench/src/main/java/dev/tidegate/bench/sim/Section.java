package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What an experiment gave: tables, figures and charts. Confined to one thread. */
final class Section {
    private final StringBuilder text = new StringBuilder();
    private final List<Figure> figures = new ArrayList<>();
    private final Map<String, LineChart> charts = new LinkedHashMap<>();
    private long events;

    /** A table begins. */
    Section head(String... titles) {
        row(titles);
        String[] rules = new String[titles.length];
        java.util.Arrays.fill(rules, "---:");
        rules[0] = "---";
        return row(rules);
    }

    /** A line of the table. */
    Section row(String... cells) {
        text.append("| ").append(String.join(" | ", cells)).append(" |\n");
        return this;
    }

    /** A table ends. */
    Section end() {
        text.append('\n');
        return this;
    }

    /** Something to be compared with what was expected. */
    Section add(Figure figure) {
        figures.add(figure);
        return this;
    }

    Section add(String name, LineChart chart) {
        charts.put(name, chart);
        return this;
    }

    /** So much has happened on the timeline. */
    Section count(long happened) {
        events += happened;
        return this;
    }

    long events() {
        return events;
    }

    List<Figure> figures() {
        return List.copyOf(figures);
    }

    /** By name of the file, without its suffix. */
    Map<String, LineChart> charts() {
        return charts;
    }

    List<Figure> missed() {
        return figures.stream().filter(figure -> !figure.passes()).toList();
    }

    /** All of it, in Markdown. */
    String markdown() {
        StringBuilder all = new StringBuilder(text);
        if (!figures.isEmpty()) {
            all.append("| | what | expected | got | tolerance | |\n|---|---|---:|---:|---:|---|\n");
            for (Figure figure : figures) {
                all.append("| ")
                        .append(String.join(
                                " | ",
                                figure.id(),
                                figure.what(),
                                figure.expected(),
                                figure.got(),
                                figure.tolerance(),
                                figure.passes() ? "pass" : "**missed**"))
                        .append(" |\n");
            }
            all.append('\n');
        }
        return all.toString();
    }
}
