package dev.tidegate.fitness;

import dev.tidegate.fitness.Chronicle.Change;
import dev.tidegate.fitness.FitnessPolicy.Breaker;
import dev.tidegate.fitness.Standing.BreakerState;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Breakers of one backend's endpoints: is dialing one futile now? (Nygard, "Release It!")
 *
 * <pre>
 *   CLOSED    → OPEN       connects in a row failed
 *   OPEN      → HALF_OPEN  its time is over
 *   HALF_OPEN → CLOSED     a trial connect came through
 *   HALF_OPEN → OPEN       a trial connect failed
 * </pre>
 *
 * <p>From anywhere to closed when operators let it in. Confined to control's thread.
 */
final class Breakers {
    private final InstantSource clock;
    private final Chronicle chronicle;
    private Optional<Breaker> policy = Optional.empty();

    Breakers(InstantSource clock, Chronicle chronicle) {
        this.clock = clock;
        this.chronicle = chronicle;
    }

    /** By this policy from now on; empty: there are none. */
    void follow(Optional<Breaker> next) {
        policy = next;
    }

    /** Closes one that is no longer the policy's. */
    void dropIfOff(Judged judged) {
        if (policy.isEmpty() && judged.breaker != BreakerState.CLOSED) {
            close(judged);
        }
    }

    /**
     * Whether failed connects open it, if there is room for one more. What was reported of a trial is none of a closed one: it
     * takes a whole row, which still stands.
     */
    boolean opens(Judged judged, int inRow) {
        return switch (judged.breaker) {
            case CLOSED ->
                policy.isPresent()
                        && inRow >= policy.get().failuresInRow()
                        && judged.fitness().connectFailuresInRow() > 0;
            case OPEN -> false;
            case HALF_OPEN -> true;
        };
    }

    void open(Judged judged, int inRow, Failure last, long nowNanos) {
        boolean again = judged.breaker == BreakerState.HALF_OPEN;
        long openNanos = policy.orElseThrow().openNanos();
        judged.breaker = BreakerState.OPEN;
        judged.breakerUntilNanos = nowNanos + openNanos;
        judged.breakerUntil = clock.instant().plus(Duration.ofNanos(openNanos));
        Fitness fitness = judged.fitness();
        fitness.set(Unfit.BREAKER_OPEN, true);
        fitness.endTrials();
        fitness.endConnectFailures();
        judged.show();
        chronicle.onEndpoint(
                judged.cell,
                Change.BREAKER_OPEN,
                again
                        ? "a trial connect failed: " + last.word()
                        : inRow + " connects in a row failed, the last: " + last.word());
    }

    /** Half opens it if its time is over. */
    void tick(Judged judged, long nowNanos) {
        if (judged.breaker == BreakerState.OPEN && nowNanos - judged.breakerUntilNanos >= 0) {
            judged.breaker = BreakerState.HALF_OPEN;
            int trials = policy.orElseThrow().trials();
            judged.fitness().beginTrials(trials);
            judged.fitness().set(Unfit.BREAKER_OPEN, false);
            judged.show();
            chronicle.onEndpoint(judged.cell, Change.BREAKER_HALF_OPEN, "connects that try it, at a time: " + trials);
        }
    }

    void close(Judged judged, String why) {
        close(judged);
        chronicle.onEndpoint(judged.cell, Change.BREAKER_CLOSED, why);
    }

    private static void close(Judged judged) {
        judged.breaker = BreakerState.CLOSED;
        Fitness fitness = judged.fitness();
        fitness.endConnectFailures();
        fitness.endTrials();
        fitness.set(Unfit.BREAKER_OPEN, false);
        judged.show();
    }
}
