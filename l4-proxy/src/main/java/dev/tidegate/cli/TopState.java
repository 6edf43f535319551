package dev.tidegate.cli;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/** What the person at `top` has chosen: view, order, place. Confined to the thread that reads the keys. */
final class TopState {
    /** The API's own order: that of the configuration, or of age. */
    static final int UNSORTED = -1;

    private TopView view = TopView.BACKENDS;
    private int sort = UNSORTED;
    private boolean reversed;
    private int scroll;
    private boolean paused;
    private boolean help;
    private boolean ended;

    /** Does what a key says. */
    void key(TopKey key) {
        switch (key) {
            case QUIT -> ended = true;
            case UP -> scroll--;
            case DOWN -> scroll++;
            case PAGE_UP -> scroll -= 10;
            case PAGE_DOWN -> scroll += 10;
            case HOME -> scroll = 0;
            case END -> scroll = Integer.MAX_VALUE / 2;
            case SORT -> sort = nextSort();
            case REVERSE -> reversed = !reversed;
            case VIEW -> {
                view = view.next();
                sort = UNSORTED;
                reversed = false;
                scroll = 0;
            }
            case PAUSE -> paused = !paused;
            case HELP -> help = !help;
            case NONE -> {}
        }
    }

    private int nextSort() {
        int next = sort + 1;
        while (next < view.columns().size() && view.columns().get(next).kind() == TopView.Kind.BAR) {
            next++;
        }
        return next >= view.columns().size() ? UNSORTED : next;
    }

    TopView view() {
        return view;
    }

    /** The column that is sorted by, or {@link #UNSORTED}. */
    int sort() {
        return sort;
    }

    boolean paused() {
        return paused;
    }

    boolean help() {
        return help;
    }

    boolean ended() {
        return ended;
    }

    /** Whether the sorted column shows its least first. */
    boolean ascending() {
        boolean words = sort >= 0 && view.columns().get(sort).kind() != TopView.Kind.NUMBER;
        return words != reversed; // of numbers, the greatest are wanted first
    }

    /** The first row to show, of so many, where so many fit. What was scrolled too far is taken back. */
    int scroll(int rows, int fit) {
        scroll = Math.max(0, Math.min(scroll, rows - fit));
        return scroll;
    }

    /** The rows in the order that was chosen. */
    List<List<TopView.Cell>> sorted(List<List<TopView.Cell>> rows) {
        List<List<TopView.Cell>> sorted = new ArrayList<>(rows);
        if (sort == UNSORTED) {
            if (reversed) {
                Collections.reverse(sorted);
            }
            return sorted;
        }
        Comparator<List<TopView.Cell>> order = view.columns().get(sort).kind() == TopView.Kind.NUMBER
                ? Comparator.comparingDouble(row -> row.get(sort).number())
                : Comparator.comparing(row -> row.get(sort).text());
        sorted.sort(ascending() ? order : order.reversed());
        return sorted;
    }
}
