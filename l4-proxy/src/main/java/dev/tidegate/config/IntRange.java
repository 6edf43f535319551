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

    static final IntRange CHECK_JITTER = new IntRange(0, 50);
    static final IntRange RISE = new IntRange(1, 100);
    static final IntRange FALL = new IntRange(1, 100);
    static final IntRange STATUS = new IntRange(100, 599);
    static final IntRange CONSECUTIVE_FAILURES = new IntRange(1, 1_000);
    static final IntRange FAILURE_RATE = new IntRange(1, 100);
    static final IntRange MIN_CONNECTIONS = new IntRange(1, 1_000_000);
    static final IntRange MAX_EJECTED = new IntRange(0, 100);
    static final IntRange TRIALS = new IntRange(1, 1_000);
    static final IntRange RETRY_RATIO = new IntRange(0, 1_000);
    static final IntRange RETRY_MIN_PER_SECOND = new IntRange(0, 1_000_000);
    static final IntRange MIN_WEIGHT = new IntRange(1, 100);
    static final IntRange PANIC_THRESHOLD = new IntRange(0, 100);

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
