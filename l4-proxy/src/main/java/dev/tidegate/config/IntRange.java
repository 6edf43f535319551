package dev.tidegate.config;

import java.util.OptionalInt;

/** The whole numbers a key takes, both ends included. Immutable. */
record IntRange(int min, int max) {
    static final IntRange PORT = new IntRange(1, 65_535);
    static final IntRange LISTEN_PORT = new IntRange(0, 65_535);
    static final IntRange WORKERS = new IntRange(1, 256);
    static final IntRange MAX_CONNECTIONS = new IntRange(1, 10_000_000);
    static final IntRange MAX_REQUESTS = new IntRange(1, 100_000_000);
    static final IntRange JITTER = new IntRange(0, 100);
    static final IntRange WEIGHT = new IntRange(0, 1_000);
    /** Below its fair share an endpoint has nothing to give away. */
    static final IntRange MAX_SHARE = new IntRange(100, 1_000);

    static final IntRange ATTEMPTS = new IntRange(1, 10);

    boolean contains(int value) {
        return value >= min && value <= max;
    }

    void require(String name, int value) {
        if (!contains(value)) {
            throw new IllegalArgumentException(name + " " + value + " is out of range (" + this + ")");
        }
    }

    void require(String name, OptionalInt value) {
        if (value.isPresent()) {
            require(name, value.getAsInt());
        }
    }

    @Override
    public String toString() {
        return min + ".." + max;
    }
}
