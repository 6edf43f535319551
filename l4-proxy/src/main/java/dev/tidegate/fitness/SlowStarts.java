package dev.tidegate.fitness;

import dev.tidegate.fitness.FitnessPolicy.SlowStart;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Shares of one backend's endpoints that grow: max(least, (t / window)^(1 / aggression)), Envoy's curve, for one that is new or has
 * come back. At the start of the process all would be new: whoever is usable within its first ten seconds, and was not found
 * otherwise before, is whole. Confined to control's thread.
 */
final class SlowStarts {
    /** How long the start of the process lasts: what it finds fit then is whole at once. */
    static final long START_NANOS = TimeUnit.SECONDS.toNanos(10);

    private Optional<SlowStart> policy = Optional.empty();
    private long startNanos;

    /**
     * By this policy from now on; empty: all are whole.
     *
     * @param atStart whether the process starts
     */
    void follow(Optional<SlowStart> next, boolean atStart, long nowNanos) {
        policy = next;
        if (atStart) {
            startNanos = nowNanos;
        }
    }

    /** Makes one whole that no longer grows by the policy. */
    void dropIfOff(Judged judged) {
        if (policy.isEmpty()) {
            judged.growing = false;
            judged.fitness().share(Fitness.FULL_SHARE);
        }
    }

    /** It becomes usable if nothing but these speak against it: its growth begins before it is so. */
    void beginIfBackBut(Judged judged, long nowNanos, Unfit... leaving) {
        if (grows(judged, nowNanos) && !judged.usable && judged.fitness().soundBut(leaving)) {
            begin(judged, nowNanos);
        }
    }

    /** It has become usable in another way: it is new, or an operator has let it in again. */
    void beginIfNew(Judged judged, long nowNanos) {
        if (grows(judged, nowNanos) && !judged.growing) {
            begin(judged, nowNanos);
        }
    }

    /** Whether it has its share little by little when it becomes usable: always, but once at the start of the process. */
    private boolean grows(Judged judged, long nowNanos) {
        return judged.known || nowNanos - startNanos >= START_NANOS;
    }

    private void begin(Judged judged, long nowNanos) {
        policy.ifPresent(slow -> {
            judged.growing = true;
            judged.growsSinceNanos = nowNanos;
            judged.fitness().share(thousandths(slow, 0));
        });
    }

    /**
     * It is not usable. Who is closed begins with its least share in the moment it is opened; who is unfit may be needed in a
     * panic.
     *
     * @param takes whether it is open
     */
    void stop(Judged judged, boolean takes, long nowNanos) {
        judged.growing = false;
        boolean whole = takes || !grows(judged, nowNanos) || policy.isEmpty();
        judged.fitness().share(whole ? Fitness.FULL_SHARE : thousandths(policy.get(), 0));
    }

    void tick(Judged judged, long nowNanos) {
        if (judged.growing && policy.isPresent()) {
            int share = thousandths(policy.get(), nowNanos - judged.growsSinceNanos);
            judged.fitness().share(share);
            judged.growing = share < Fitness.FULL_SHARE;
        }
    }

    static int thousandths(SlowStart slow, long sinceNanos) {
        double passed = Math.min(1, (double) sinceNanos / slow.windowNanos());
        double share = Math.max(slow.leastShare() / 100.0, Math.pow(passed, 1 / slow.aggression()));
        return Math.max(1, (int) Math.round(Fitness.FULL_SHARE * share));
    }
}
