package dev.tidegate.config;

import java.time.Duration;
import java.util.Optional;

/** The durations a key takes, both ends included. Immutable. */
record DurationRange(Duration min, Duration max) {
    /** Who waits for a process to be ready does not wait for longer. */
    static final DurationRange WARM_UP = new DurationRange(Duration.ofMillis(10), Duration.ofSeconds(2));

    static final DurationRange SHUTDOWN_DEADLINE = new DurationRange(Duration.ofMillis(10), Duration.ofDays(7));
    static final DurationRange SHUTDOWN_SPREAD = new DurationRange(Duration.ZERO, Duration.ofDays(7));
    static final DurationRange LAME_DUCK = new DurationRange(Duration.ZERO, Duration.ofHours(1));
    static final DurationRange IDLE = new DurationRange(Duration.ofMillis(10), Duration.ofDays(365));
    static final DurationRange HALF_CLOSED = new DurationRange(Duration.ofMillis(10), Duration.ofDays(365));
    /** The kernel takes TCP_USER_TIMEOUT as milliseconds in an int: 24.85 days is all it can hold. */
    static final DurationRange UNACKED = new DurationRange(Duration.ofMillis(10), Duration.ofDays(24));

    static final DurationRange MAX_AGE = new DurationRange(Duration.ofMillis(10), Duration.ofDays(365));
    static final DurationRange GRACE = new DurationRange(Duration.ZERO, Duration.ofDays(365));
    static final DurationRange QUIET = new DurationRange(Duration.ofMillis(10), Duration.ofHours(1));
    /** Never none: to close at once is to lose the tail of an answer to a reset. */
    static final DurationRange LINGER = new DurationRange(Duration.ofMillis(10), Duration.ofMinutes(5));

    static final DurationRange CONNECT_TIMEOUT = new DurationRange(Duration.ofMillis(10), Duration.ofMinutes(5));
    static final DurationRange REBALANCE_SPREAD = new DurationRange(Duration.ZERO, Duration.ofDays(7));
    static final DurationRange CONNECT_DEADLINE = new DurationRange(Duration.ofMillis(10), Duration.ofHours(1));

    static final DurationRange CHECK_INTERVAL = new DurationRange(Duration.ofMillis(100), Duration.ofHours(1));
    static final DurationRange CHECK_FAST_INTERVAL = new DurationRange(Duration.ofMillis(50), Duration.ofHours(1));
    static final DurationRange CHECK_TIMEOUT = new DurationRange(Duration.ofMillis(10), Duration.ofMinutes(10));
    static final DurationRange MAX_HOLD_DOWN = new DurationRange(Duration.ofSeconds(1), Duration.ofDays(1));
    static final DurationRange OUTLIER_INTERVAL = new DurationRange(Duration.ofSeconds(1), Duration.ofHours(1));
    static final DurationRange FIRST_BYTE = new DurationRange(Duration.ofMillis(10), Duration.ofHours(1));
    static final DurationRange EJECTION = new DurationRange(Duration.ofMillis(100), Duration.ofDays(1));
    static final DurationRange MAX_EJECTION = new DurationRange(Duration.ofMillis(100), Duration.ofDays(1));
    static final DurationRange BREAKER_OPEN = new DurationRange(Duration.ofMillis(100), Duration.ofHours(1));
    static final DurationRange SLOW_START_WINDOW = new DurationRange(Duration.ofSeconds(1), Duration.ofHours(1));

    boolean contains(Duration value) {
        return value.compareTo(min) >= 0 && value.compareTo(max) <= 0;
    }

    void require(String name, Duration value) {
        if (!contains(value)) {
            throw new IllegalArgumentException(
                    name + " " + Durations.format(value) + " is out of range (" + this + ")");
        }
    }

    void require(String name, Optional<Duration> value) {
        if (value.isPresent()) {
            require(name, value.get());
        }
    }

    @Override
    public String toString() {
        return Durations.format(min) + ".." + Durations.format(max);
    }
}
