package dev.tidegate.balance;

import dev.tidegate.model.Endpoint;

/**
 * How loaded an endpoint is: (in-flight + 1) / effective weight, the load it would have with this connection. The + 1 keeps weights
 * in force when all are idle: without it every idle endpoint looks alike.
 *
 * <p>Any thread.
 */
final class Load {
    private Load() {}

    /** Negative when {@code a} is less loaded than {@code b}, 0 when they are alike. Compared by multiplying across. */
    static int compare(Endpoint a, Endpoint b) {
        long left = (a.cell().inFlight() + 1L) * b.effectiveWeight();
        long right = (b.cell().inFlight() + 1L) * a.effectiveWeight();
        return Long.compare(left, right);
    }
}
