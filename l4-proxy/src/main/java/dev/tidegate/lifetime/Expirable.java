package dev.tidegate.lifetime;

/** What a deadline wakes. Called on the loop of the worker that owns the wheel. */
@FunctionalInterface
public interface Expirable {
    /**
     * The deadline has passed.
     *
     * @param nowNanos the time of this turn of the wheel
     */
    void onDeadline(long nowNanos);
}
