package dev.tidegate.bench.sim;

/** A picker under trial that is told more than a production picker sees: when what it has picked begins and ends. */
interface Attentive {
    /** The endpoint at that index has been given one more. */
    void onGiven(int index, long nowNanos);

    /** The endpoint at that index is done with one. */
    void onDone(int index, long givenNanos, long nowNanos);
}
