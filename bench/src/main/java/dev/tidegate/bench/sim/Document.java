package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** The document that tables and charts go into: words by hand, and between two marks what an experiment gave. */
final class Document {
    private static final String END = "<!-- end -->\n";

    private Document() {}

    /** Replaces what stands in the document for that experiment, and writes its charts beside it. */
    static void update(Path document, String name, Section section) throws IOException {
        String text = Files.readString(document);
        int from = begin(document, text, name);
        int to = end(document, text, name, from);
        String stem = stem(document);
        Path charts = document.resolveSibling(stem);
        for (Map.Entry<String, LineChart> chart : section.charts().entrySet()) {
            Files.createDirectories(charts);
            Files.writeString(
                    charts.resolve(chart.getKey() + ".svg"), chart.getValue().svg());
        }
        Files.writeString(document, text.substring(0, from) + block(stem, section) + text.substring(to));
    }

    /** What stands in the document for that experiment. */
    static String read(Path document, String name) throws IOException {
        String text = Files.readString(document);
        int from = begin(document, text, name);
        return text.substring(from, end(document, text, name, from));
    }

    /** What is to stand there. */
    static String block(String stem, Section section) {
        StringBuilder block = new StringBuilder("\n").append(section.markdown());
        section.charts()
                .forEach((name, chart) -> block.append("![%s](%s/%s.svg)%n%n".formatted(chart.title(), stem, name)));
        return block.append(String.format(Locale.ROOT, "%,d events.%n%n", section.events()))
                .toString();
    }

    static String stem(Path document) {
        return document.getFileName().toString().replaceAll("\\.md$", "");
    }

    private static int begin(Path document, String text, String name) {
        String mark = "<!-- bench/sim " + name + " -->\n";
        int at = text.indexOf(mark);
        if (at < 0) {
            throw new IllegalArgumentException(document + " has no line " + mark.strip());
        }
        return at + mark.length();
    }

    private static int end(Path document, String text, String name, int from) {
        int at = text.indexOf(END, from);
        if (at < 0) {
            throw new IllegalArgumentException(document + ": the part of " + name + " has no line " + END.strip());
        }
        return at;
    }
}
