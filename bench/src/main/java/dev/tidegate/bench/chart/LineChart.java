package dev.tidegate.bench.chart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Some lines over one axis, as SVG. Confined to one thread. */
public final class LineChart {
    private static final int WIDTH = 820;
    private static final int HEIGHT = 360;
    private static final int LEFT = 64;
    private static final int RIGHT = 300;
    private static final int TOP = 36;
    private static final int BOTTOM = 48;
    private static final int TICKS = 5;
    /** Okabe and Ito: told apart by most eyes. */
    private static final String[] COLOURS = {
        "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#000000"
    };

    private record Line(String name, Series xs, Series ys) {}

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final List<Line> lines = new ArrayList<>();
    private boolean logarithmic;

    /** Without a line yet. */
    public LineChart(String title, String xTitle, String yTitle) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
    }

    /** With one line more. */
    public LineChart line(String name, Series xs, Series ys) {
        lines.add(new Line(name, xs, ys));
        return this;
    }

    /** What stands above it. */
    public String title() {
        return title;
    }

    /** With each x as far from the next as its logarithm; for values above 0. */
    public LineChart logarithmic() {
        logarithmic = true;
        return this;
    }

    /** As SVG. */
    public String svg() {
        double xMax =
                nice(lines.stream().mapToDouble(line -> line.xs().max()).max().orElse(1));
        double yMax =
                nice(lines.stream().mapToDouble(line -> line.ys().max()).max().orElse(1));
        StringBuilder svg = new StringBuilder(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                        .formatted(WIDTH, HEIGHT));
        svg.append("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n".formatted(WIDTH, HEIGHT));
        text(svg, LEFT, 14, "start", title);
        for (int i = 0; i <= TICKS; i++) {
            double x = xMax * i / TICKS;
            double y = yMax * i / TICKS;
            svg.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>%n",
                    LEFT,
                    WIDTH - RIGHT,
                    down(y, yMax),
                    down(y, yMax)));
            text(svg, LEFT - 6, down(y, yMax) + 4, "end", label(y));
            if (!logarithmic) {
                text(svg, across(x, xMax), HEIGHT - BOTTOM + 16, "middle", label(x));
            }
        }
        if (logarithmic) {
            // The values themselves are the marks: there are few.
            lines.stream()
                    .flatMapToDouble(line -> line.xs().stream())
                    .distinct()
                    .forEach(x -> text(svg, across(x, xMax), HEIGHT - BOTTOM + 16, "middle", label(x)));
        }
        text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "middle", xTitle);
        text(svg, LEFT, TOP - 6, "start", yTitle);
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            String colour = COLOURS[i % COLOURS.length];
            StringBuilder points = new StringBuilder();
            for (int k = 0; k < line.xs().size(); k++) {
                points.append(String.format(
                        Locale.ROOT,
                        "%.1f,%.1f ",
                        across(line.xs().at(k), xMax),
                        down(line.ys().at(k), yMax)));
            }
            svg.append("<polyline fill=\"none\" stroke-width=\"1.8\" stroke=\"%s\" points=\"%s\"/>\n"
                    .formatted(colour, points.toString().strip()));
            int at = TOP + 18 * i + 8;
            svg.append("<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"3\" fill=\"%s\"/>\n"
                    .formatted(WIDTH - RIGHT + 12, at - 5, colour));
            text(svg, WIDTH - RIGHT + 32, at, "start", line.name());
        }
        return svg.append("</svg>\n").toString();
    }

    private double across(double x, double max) {
        double share = x / max;
        if (logarithmic) {
            double min = lines.stream()
                    .flatMapToDouble(line -> line.xs().stream())
                    .min()
                    .orElse(1);
            share = (Math.log(x) - Math.log(min)) / Math.max(Math.log(max) - Math.log(min), 1e-9);
        }
        return LEFT + (WIDTH - RIGHT - LEFT) * share;
    }

    private static double down(double y, double max) {
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * y / max;
    }

    /** The least of some round numbers times a power of ten that is not below it: its fifths are short. */
    private static double nice(double most) {
        double power = Math.pow(10, Math.floor(Math.log10(Math.max(most, 1e-9))));
        for (double step : new double[] {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8}) {
            if (most <= step * power) {
                return step * power;
            }
        }
        return 10 * power;
    }

    private static String label(double value) {
        String text = String.format(Locale.ROOT, "%.3f", value);
        return text.replaceAll("0+$", "").replaceAll("\\.$", "");
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String words) {
        String safe = words.replace("&", "&amp;").replace("<", "&lt;");
        svg.append(String.format(
                Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, safe));
    }
}
