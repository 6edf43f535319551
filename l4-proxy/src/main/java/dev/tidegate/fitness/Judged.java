package dev.tidegate.fitness;

import dev.tidegate.fitness.Standing.BreakerState;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Fitness;
import java.time.Instant;

/** An endpoint and what its judge remembers of it. Confined to control's thread, but for {@link #standing}. */
final class Judged {
    final EndpointCell cell;
    /** Ejections that are not forgiven. */
    int ejections;
    /** When the ejection ends, or the last one ended. */
    long ejectedUntilNanos;

    /** The same by the clock, for operators, and why. */
    Instant ejectedUntil;

    String ejectedWhy;

    /** Whether there is a breaker at all. */
    boolean hasBreaker;

    BreakerState breaker = BreakerState.CLOSED;
    /** When an open breaker becomes half open. */
    long breakerUntilNanos;
    /** The same by the clock, for operators. */
    Instant breakerUntil;

    /** Whether its share is growing, and since when. */
    boolean growing;

    long growsSinceNanos;
    /** Whether it took connections at the last look. */
    boolean usable;
    /** Whether its share grows whenever it becomes usable: it was so before, is new, or was found unfit or closed. */
    boolean known;
    /** What was counted when its failure rate was last looked at. */
    long answeredBefore;

    long failuresBefore;
    volatile Standing standing = Standing.GOOD;

    Judged(EndpointCell cell) {
        this.cell = cell;
    }

    Fitness fitness() {
        return cell.fitness();
    }

    boolean ejected() {
        return fitness().unfit(Fitness.Unfit.EJECTED);
    }

    /** Whoever looks sees where it stands now. */
    void show() {
        boolean ejected = ejected();
        standing = new Standing(
                ejected ? ejectedUntil : null,
                ejected ? ejectedWhy : null,
                ejections,
                hasBreaker ? breaker : null,
                breaker == BreakerState.OPEN ? breakerUntil : null);
    }

    /** Whether it counts against the share that may be out at a time. */
    boolean out() {
        return ejected() || breaker != BreakerState.CLOSED;
    }

    /** Until when it is out, if it is: one that is tried may be in at any moment. */
    long outUntilNanos() {
        if (breaker == BreakerState.CLOSED) {
            return ejectedUntilNanos;
        }
        return ejected() && ejectedUntilNanos - breakerUntilNanos > 0 ? ejectedUntilNanos : breakerUntilNanos;
    }
}
