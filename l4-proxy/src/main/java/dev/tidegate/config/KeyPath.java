package dev.tidegate.config;

/**
 * The way to a key. Immutable; kept as a chain and written out only for a problem, so that a file of one long key and
 * many values costs nothing.
 */
final class KeyPath {
    static final KeyPath ROOT = new KeyPath(null, "");

    private static final int SEGMENT_MAX = 64;

    private final KeyPath parent;
    private final String segment;

    private KeyPath(KeyPath parent, String segment) {
        this.parent = parent;
        this.segment = segment;
    }

    /** The way to a key of a section, or to a list element that has a name. */
    KeyPath key(String name) {
        return new KeyPath(this, "." + (name.length() > SEGMENT_MAX ? name.substring(0, SEGMENT_MAX) + "…" : name));
    }

    /** The way to a list element that has no name. */
    KeyPath index(int index) {
        return new KeyPath(this, "[" + index + "]");
    }

    @Override
    public String toString() {
        StringBuilder path = new StringBuilder();
        appendTo(path);
        return path.length() > 0 && path.charAt(0) == '.' ? path.substring(1) : path.toString();
    }

    private void appendTo(StringBuilder path) {
        if (parent != null) {
            parent.appendTo(path);
        }
        path.append(segment);
    }
}
