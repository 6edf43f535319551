package dev.tidegate.cli;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Lays out what `top` shows. Immutable. */
final class TopPage {
    private static final String EIGHTHS = " ▏▎▍▌▋▊▉";
    private static final int PANICS_MAX = 3;
    private static final int OPERATIONS_MAX = 3;
    private static final int OPERATION_BAR = 20;
    private static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;
    private static final List<String> HELP = List.of(
            "  q, ctrl-C        quit",
            "  f, tab           the next view: backends, frontends, connections",
            "  s                sort by the next column; after the last, as configured",
            "  r                the other way round",
            "  up, down, k, j   scroll; page up, page down, home, end too",
            "  space            hold the picture; again: go on",
            "  ?                this help; again: back to the table",
            "",
            "  green: ready   red: down, ejected, breaker open, panic, failures",
            "  yellow: draining, disabled, not pickable for another reason, weight changed",
            "  rates are of the last second; IN is what clients sent, OUT what they were sent");

    private final int width;
    private final int height;
    private final boolean unicode;
    private final boolean colour;

    /**
     * @param width in columns
     * @param height in lines
     * @param unicode whether more than ASCII can be shown
     * @param colour whether to use colours
     */
    TopPage(int width, int height, boolean unicode, boolean colour) {
        this.width = width;
        this.height = height;
        this.unicode = unicode;
        this.colour = colour;
    }

    /**
     * All lines: as many as the height.
     *
     * @param trouble why nothing newer is shown; empty when all is well
     */
    List<AttributedString> lines(TopSample.Pair pair, TopState state, String trouble) {
        List<AttributedString> lines = new ArrayList<>(header(pair, state));
        if (!trouble.isEmpty()) {
            lines.add(2, trouble(trouble)); // below what is always there
        }
        lines.add(AttributedString.EMPTY);
        int room = Math.max(0, height - lines.size() - 1);
        if (state.help()) {
            HELP.forEach(line -> lines.add(new AttributedString(line)));
        } else {
            lines.addAll(table(pair, state, room));
        }
        return fitted(lines);
    }

    /**
     * All lines while nothing was answered yet.
     *
     * @param trouble why
     */
    List<AttributedString> empty(String trouble) {
        return fitted(List.of(new AttributedString("tidegate", PLAIN.bold()), trouble(trouble)));
    }

    private AttributedString trouble(String text) {
        return new AttributedString(
                Words.printable(text), style(TopView.Tone.BAD).bold());
    }

    private List<AttributedString> fitted(List<AttributedString> some) {
        List<AttributedString> lines = new ArrayList<>(some);
        while (lines.size() < height - 1) {
            lines.add(AttributedString.EMPTY);
        }
        List<AttributedString> fitting = new ArrayList<>(lines.subList(0, Math.max(0, height - 1)));
        fitting.add(footer());
        fitting.replaceAll(line -> line.columnSubSequence(0, width));
        return fitting;
    }

    private List<AttributedString> header(TopSample.Pair pair, TopState state) {
        Json status = pair.now().status();
        List<AttributedString> lines = new ArrayList<>();
        AttributedStringBuilder first = new AttributedStringBuilder();
        first.styled(PLAIN.bold(), "tidegate " + Words.printable(status.text("version")));
        first.append("  ").styled(style(TopView.tone(status.text("state"))), Words.printable(status.text("state")));
        first.append("  up " + Words.age(status.number("uptime_ms")) + "  generation " + status.number("generation"));
        if (state.paused()) {
            first.append("  ").styled(style(TopView.Tone.WARN).bold(), "PAUSED");
        }
        lines.add(first.toAttributedString());
        lines.add(totals(pair));
        List<String> panics = FitnessText.panics(pair.now().backends().items());
        panics.stream()
                .limit(PANICS_MAX)
                .forEach(panic -> lines.add(new AttributedString(panic, style(TopView.Tone.BAD))));
        if (panics.size() > PANICS_MAX) {
            lines.add(new AttributedString("and " + (panics.size() - PANICS_MAX) + " more backends"));
        }
        List<Json> operations = status.at("operations").elements();
        operations.stream().limit(OPERATIONS_MAX).forEach(operation -> lines.add(operation(operation)));
        if (operations.size() > OPERATIONS_MAX) {
            lines.add(new AttributedString("and " + (operations.size() - OPERATIONS_MAX) + " more operations"));
        }
        return lines;
    }

    private AttributedString totals(TopSample.Pair pair) {
        double accepts = sum(pair, "accepted");
        return new AttributedString("connections " + pair.now().status().number("connections") + "/"
                + pair.now().status().number("max_connections") + "  accepts/s " + Words.rate(accepts) + "  in "
                + Words.bytes(sum(pair, "received_bytes")) + "/s  out "
                + Words.bytes(sum(pair, "sent_bytes")) + "/s");
    }

    private static double sum(TopSample.Pair pair, String counter) {
        return pair.rate(
                total(pair.before().frontends(), counter), total(pair.now().frontends(), counter));
    }

    private static long total(Json frontends, String counter) {
        return frontends.items().stream()
                .mapToLong(frontend -> frontend.number(counter))
                .sum();
    }

    private AttributedString operation(Json operation) {
        long total = Math.max(1, operation.number("total"));
        double gone = Math.max(0, total - operation.number("remaining")) / (double) total;
        AttributedStringBuilder line = new AttributedStringBuilder();
        line.append(Words.printable(operation.text("kind") + " " + operation.text("target")) + " ");
        line.append("[")
                .styled(style(TopView.Tone.WARN), bar(gone, OPERATION_BAR))
                .append("] ");
        line.append(AnswerText.remaining(operation)).append(AnswerText.rate(operation));
        return line.toAttributedString();
    }

    private List<AttributedString> table(TopSample.Pair pair, TopState state, int room) {
        List<TopView.Column> columns = state.view().columns();
        List<List<TopView.Cell>> rows = state.sorted(state.view().rows(pair));
        int[] widths = widths(columns);
        int fit = Math.max(0, room - 2);
        int from = state.scroll(rows.size(), fit);
        int to = Math.min(rows.size(), from + fit);
        List<AttributedString> lines = new ArrayList<>();
        lines.add(new AttributedString(
                "[" + state.view() + "]  " + (rows.isEmpty() ? "none" : from + 1 + "-" + to + " of " + rows.size()),
                PLAIN.faint()));
        lines.add(head(columns, widths, state));
        for (List<TopView.Cell> row : rows.subList(from, to)) {
            lines.add(row(columns, row, widths, greatest(columns, rows)));
        }
        return lines;
    }

    /** The width of each column, 0 for what is left out. */
    private int[] widths(List<TopView.Column> columns) {
        List<TopView.Column> shown = new ArrayList<>(columns);
        List<TopView.Column> fromTheEnd = new ArrayList<>(columns);
        Collections.reverse(fromTheEnd);
        for (TopView.Column column : fromTheEnd) {
            if (needed(shown) > width && column.optional()) {
                shown.remove(column);
            }
        }
        long names = shown.stream()
                .filter(column -> column.kind() == TopView.Kind.NAME)
                .count();
        int spare = Math.max(0, width - needed(shown));
        int[] widths = new int[columns.size()];
        for (int i = 0; i < widths.length; i++) {
            TopView.Column column = columns.get(i);
            int more = column.kind() == TopView.Kind.NAME ? (int) (spare / names) : 0;
            widths[i] = shown.contains(column) ? column.width() + more : 0;
        }
        return widths;
    }

    private static int needed(List<TopView.Column> columns) {
        return columns.stream().mapToInt(column -> column.width() + 1).sum() - 1;
    }

    private static double greatest(List<TopView.Column> columns, List<List<TopView.Cell>> rows) {
        double greatest = 1;
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).kind() == TopView.Kind.BAR) {
                int column = i;
                greatest = Math.max(
                        greatest,
                        rows.stream()
                                .mapToDouble(row -> row.get(column).number())
                                .max()
                                .orElse(1));
            }
        }
        return greatest;
    }

    private AttributedString head(List<TopView.Column> columns, int[] widths, TopState state) {
        AttributedStringBuilder line = new AttributedStringBuilder();
        for (int i = 0; i < widths.length; i++) {
            if (widths[i] > 0) {
                String mark = state.sort() == i ? mark(state.ascending()) : "";
                String name = columns.get(i).head();
                String head = name.substring(0, Math.min(name.length(), widths[i] - mark.length())) + mark;
                line.append(i == 0 ? "" : " ").append(padded(columns.get(i), head, widths[i]));
            }
        }
        String text = line.toString();
        return new AttributedString(text + " ".repeat(Math.max(0, width - text.length())), PLAIN.inverse());
    }

    private String mark(boolean ascending) {
        if (unicode) {
            return ascending ? "▲" : "▼";
        }
        return ascending ? "^" : "v";
    }

    private AttributedString row(List<TopView.Column> columns, List<TopView.Cell> row, int[] widths, double greatest) {
        AttributedStringBuilder line = new AttributedStringBuilder();
        for (int i = 0; i < widths.length; i++) {
            if (widths[i] > 0) {
                TopView.Cell cell = row.get(i);
                String text = columns.get(i).kind() == TopView.Kind.BAR
                        ? bar(cell.number() / greatest, widths[i])
                        : cut(cell.text(), widths[i]);
                line.append(i == 0 ? "" : " ").styled(style(cell.tone()), padded(columns.get(i), text, widths[i]));
            }
        }
        return line.toAttributedString();
    }

    private static String padded(TopView.Column column, String text, int width) {
        String space = " ".repeat(Math.max(0, width - text.length()));
        return column.kind() == TopView.Kind.NUMBER ? space + text : text + space;
    }

    private String cut(String text, int width) {
        if (text.length() <= width) {
            return text;
        }
        return width < 1 ? "" : text.substring(0, width - 1) + (unicode ? "…" : "~");
    }

    /** A bar of that width, full by that share. */
    private String bar(double share, int width) {
        int eighths = (int) Math.round(Math.min(1, share) * width * 8);
        if (!unicode) {
            return "#".repeat(eighths / 8) + " ".repeat(width - eighths / 8);
        }
        String rest = eighths % 8 == 0 ? "" : EIGHTHS.substring(eighths % 8, eighths % 8 + 1);
        String full = "█".repeat(eighths / 8) + rest;
        return full + " ".repeat(width - full.length());
    }

    private AttributedString footer() {
        String keys = " q quit  f view  s sort  r reverse  space pause  j/k scroll  ? help";
        return new AttributedString(keys + " ".repeat(Math.max(0, width - keys.length())), PLAIN.inverse());
    }

    private AttributedStyle style(TopView.Tone tone) {
        if (!colour) {
            return PLAIN;
        }
        return switch (tone) {
            case PLAIN -> PLAIN;
            case GOOD -> PLAIN.foreground(AttributedStyle.GREEN);
            case WARN -> PLAIN.foreground(AttributedStyle.YELLOW);
            case BAD -> PLAIN.foreground(AttributedStyle.RED);
        };
    }
}
