package dev.tidegate.bench.chart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Bars that lie, each with the range that its value was found in, beside a line at 1. As SVG. Confined to one thread. */
public final class BarChart {
    private static final int WIDTH = 820;
    private static final int LEFT = 230;
    private static final int RIGHT = 130;
    private static final int TOP = 40;
    private static final int ROW = 22;
    private static final int GAP = 14;
    private static final String OURS = "#0072b2";
    private static final String OTHERS = "#999999";

    private record Bar(String group, String name, boolean ours, double least, double value, double greatest) {}

    private final String title;
    private final List<Bar> bars = new ArrayList<>();

    /** Without a bar yet. */
    public BarChart(String title) {
        this.title = title;
    }

    /** With one bar more; those of one group follow one another. */
    public BarChart bar(String group, String name, boolean ours, double least, double value, double greatest) {
        bars.add(new Bar(group, name, ours, least, value, greatest));
        return this;
    }

    /** As SVG. */
    public String svg() {
        double most = Math.max(1.5, bars.stream().mapToDouble(Bar::value).max().orElse(1) * 1.1);
        StringBuilder body = new StringBuilder();
        int y = TOP;
        String group = "";
        for (Bar bar : bars) {
            if (!bar.group().equals(group)) {
                group = bar.group();
                y += GAP;
                text(body, 8, y + 12, "start", group, "bold");
                y += ROW;
            }
            double from = across(Math.min(bar.least(), most), most);
            double to = across(Math.min(bar.greatest(), most), most);
            body.append(String.format(
                    Locale.ROOT,
                    "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>%n"
                            + "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"black\"/>%n",
                    LEFT,
                    y,
                    across(bar.value(), most) - LEFT,
                    bar.ours() ? OURS : OTHERS,
                    from,
                    to,
                    y + 7,
                    y + 7));
            text(body, LEFT - 8, y + 12, "end", bar.name(), "normal");
            text(body, WIDTH - RIGHT + 10, y + 12, "start", range(bar), "normal");
            y += ROW;
        }
        int height = y + GAP;
        double one = across(1, most);
        StringBuilder svg = new StringBuilder(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                        .formatted(WIDTH, height));
        svg.append("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n".formatted(WIDTH, height));
        text(svg, 8, 20, "start", title, "bold");
        svg.append(body);
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#d55e00\" stroke-dasharray=\"4 3\"/>%n",
                one,
                one,
                TOP,
                height - GAP));
        return svg.append("</svg>\n").toString();
    }

    private static String range(Bar bar) {
        return String.format(Locale.ROOT, "%.2f–%.2f–%.2f", bar.least(), bar.value(), bar.greatest());
    }

    private static double across(double value, double most) {
        return LEFT + (WIDTH - RIGHT - LEFT) * value / most;
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String words, String weight) {
        String safe = words.replace("&", "&amp;").replace("<", "&lt;");
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-weight=\"%s\">%s</text>%n",
                x,
                y,
                anchor,
                weight,
                safe));
    }
}
