package dev.tidegate.balance;

import dev.tidegate.model.Endpoint;
import dev.tidegate.model.Fitness;

/**
 * How loaded an endpoint is: (in-flight + 1) / weight, the load it would have with this connection. The + 1 keeps weights
 * in force when all are idle: without it every idle endpoint looks alike.
 *
 * <p>During a slow start what is in flight weighs more, by the share that is lacking, so that it grows with the share; but
 * not the one more, or an idle endpoint would get nothing until its share is whole, and then be rushed after all.
 *
 * <p>Any thread.
 */
final class Load {
    private Load() {}

    /** Negative when {@code a} is less loaded than {@code b}, 0 when they are alike. Compared by multiplying across. */
    static int compare(Endpoint a, Endpoint b) {
        return Long.compare(thousandths(a) * b.weight(), thousandths(b) * a.weight());
    }

    private static long thousandths(Endpoint endpoint) {
        long inFlight = endpoint.cell().inFlight();
        return inFlight
                        * Fitness.FULL_SHARE
                        * Fitness.FULL_SHARE
                        / endpoint.cell().fitness().share()
                + Fitness.FULL_SHARE;
    }
}
