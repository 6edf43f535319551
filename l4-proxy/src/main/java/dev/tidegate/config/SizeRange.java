package dev.tidegate.config;

import java.util.OptionalLong;

/** The sizes a key takes in bytes, both ends included. Immutable. */
record SizeRange(long min, long max) {
    static final SizeRange MAX_BYTES = new SizeRange(1, 1L << 50);

    boolean contains(long bytes) {
        return bytes >= min && bytes <= max;
    }

    void require(String name, OptionalLong bytes) {
        if (bytes.isPresent() && !contains(bytes.getAsLong())) {
            throw new IllegalArgumentException(name + " " + bytes.getAsLong() + "B is out of range (" + this + ")");
        }
    }

    @Override
    public String toString() {
        return Sizes.format(min) + ".." + Sizes.format(max);
    }
}
