package dev.tidegate.model;

/**
 * The endpoints that one connection has tried already, by index. Small: a connection makes few attempts.
 *
 * <p>Confined to its connection.
 */
public final class Tried {
    /** Nothing tried yet; never add to it. */
    public static final Tried NOTHING = new Tried(0);

    private final int[] indexes;
    private int size;

    /**
     * @param attempts the most that will be added
     */
    public Tried(int attempts) {
        indexes = new int[attempts];
    }

    /** Adds one. */
    public void add(int index) {
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
