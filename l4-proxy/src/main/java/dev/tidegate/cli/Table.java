package dev.tidegate.cli;

import java.util.ArrayList;
import java.util.List;

/** Rows in columns as wide as their widest cell. For one thread. */
final class Table {
    private static final String GAP = "  ";

    private final List<String> heads = new ArrayList<>();
    private final List<Boolean> right = new ArrayList<>();
    private final List<List<String>> rows = new ArrayList<>();

    /** A column of words. */
    Table left(String head) {
        heads.add(head);
        right.add(false);
        return this;
    }

    /** A column of numbers. */
    Table right(String head) {
        heads.add(head);
        right.add(true);
        return this;
    }

    /** A row with a cell for each column. */
    void row(Object... cells) {
        List<String> row = new ArrayList<>();
        for (Object cell : cells) {
            row.add(Words.printable(cell.toString()));
        }
        rows.add(row);
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    /** The lines, the head first. */
    List<String> lines() {
        List<List<String>> all = new ArrayList<>(List.of(heads));
        all.addAll(rows);
        int[] widths = new int[heads.size()];
        for (List<String> row : all) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        return all.stream().map(row -> line(row, widths)).toList();
    }

    private String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String space = " ".repeat(widths[i] - row.get(i).length());
            line.append(i == 0 ? "" : GAP);
            line.append(right.get(i) ? space + row.get(i) : row.get(i) + space);
        }
        return line.toString().stripTrailing();
    }

    @Override
    public String toString() {
        return String.join(System.lineSeparator(), lines());
    }
}
