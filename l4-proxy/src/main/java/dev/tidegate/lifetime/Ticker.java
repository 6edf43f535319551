package dev.tidegate.lifetime;

/** Monotonic time, so that tests can hold it in their hands. Any thread. */
@FunctionalInterface
public interface Ticker {
    /** Nanoseconds from a fixed but arbitrary origin; compare by subtraction only. */
    long nanoTime();
}
