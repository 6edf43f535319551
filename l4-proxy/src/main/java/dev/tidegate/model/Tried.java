package dev.tidegate.model;

import java.util.Arrays;

/**
 * The endpoints that one connection has tried already, by index. Small: a connection makes few attempts.
 *
 * <p>Confined to its connection.
 */
public final class Tried {
    /** Nothing tried yet; never add to it. */
    public static final Tried NOTHING = new Tried();

    private int[] indexes = {};
    private int size;

    /** Adds one. */
    public void add(int index) {
        if (size == indexes.length) {
            indexes = Arrays.copyOf(indexes, size + 4);
        }
        indexes[size++] = index;
    }

    /** Forgets all: every endpoint may be tried again. */
    public void clear() {
        size = 0;
    }

    /** Whether none was tried. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** Whether this one was tried. */
    public boolean contains(int index) {
        for (int i = 0; i < size; i++) {
            if (indexes[i] == index) {
                return true;
            }
        }
        return false;
    }
}
