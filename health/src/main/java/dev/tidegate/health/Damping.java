package dev.tidegate.health;

import java.util.concurrent.TimeUnit;

/**
 * The penalty for flapping. Confined to the checks' loop; pure.
 *
 * <p>Each fall out of {@link Condition#UP} counts. The first costs nothing. The n-th in a row of falls (n from 2) holds the
 * target down, whatever it answers, for at least {@code rise × interval × 2^(n−1)}, at most the plan's
 * {@code maxHoldDownNanos}; that time counts from the fall. When it is over, the target comes up with the next pass, if it
 * has passed {@code rise} times in a row by then. The count starts over once the target has stayed up for 60 s or as long as
 * it was held last, whichever is longer. While held it may still change between down and not ready. A
 * {@code maxHoldDownNanos} of 0 switches this off.
 *
 * <p>With an interval of 2 s, rise 2 and a limit of 5 min the holds are 0, 8, 16, 32, 64, 128, 256, 300, 300 … seconds.
 */
final class Damping {
    /** Up for less is flapping. */
    static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(60);

    private int falls;
    private long holdNanos; // the last one
    private long fellNanos;
    private long upSinceNanos;

    /** It came up, or starts so. */
    void onRise(long nowNanos) {
        upSinceNanos = nowNanos;
    }

    /** It fell out of up. */
    void onFall(long nowNanos, CheckPlan plan) {
        if (nowNanos - upSinceNanos >= Math.max(CALM_NANOS, holdNanos)) {
            falls = 0;
        }
        falls++;
        fellNanos = nowNanos;
        holdNanos = falls < 2 ? 0 : Math.min(plan.maxHoldDownNanos(), penaltyNanos(plan));
    }

    /** For how much longer it is held; 0: it is not. A limit that was lowered since counts at once. */
    long heldNanos(long nowNanos, CheckPlan plan) {
        return Math.max(0, Math.min(holdNanos, plan.maxHoldDownNanos()) - (nowNanos - fellNanos));
    }

    private long penaltyNanos(CheckPlan plan) {
        // As a double: it may grow past a long, and the limit cuts it then.
        double nanos = (double) plan.rise() * plan.intervalNanos() * Math.pow(2, falls - 1.0);
        return nanos >= Long.MAX_VALUE ? Long.MAX_VALUE : (long) nanos;
    }
}
