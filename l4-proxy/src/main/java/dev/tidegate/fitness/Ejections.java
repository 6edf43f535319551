package dev.tidegate.fitness;

import dev.tidegate.fitness.Chronicle.Change;
import dev.tidegate.fitness.FitnessPolicy.Outlier;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * Ejections of one backend's endpoints: is one worse than its siblings? How long each lasts, when it is over, and whether a
 * rate of failures asks for one; whether there is room for one more is asked of whoever knows about all that are out. Envoy's
 * outlier detection is the model. Confined to control's thread.
 */
final class Ejections {
    /** A return is put off by up to this part of the ejection, so that those ejected at one moment do not come back at one. */
    private static final double RETURN_JITTER = 0.1;

    private final InstantSource clock;
    private final RandomGenerator random;
    private final Chronicle chronicle;
    private final Tally tally;
    private Optional<Outlier> policy = Optional.empty();
    private long rateLookNanos;

    Ejections(InstantSource clock, RandomGenerator random, Chronicle chronicle, Tally tally) {
        this.clock = clock;
        this.random = random;
        this.chronicle = chronicle;
        this.tally = tally;
    }

    /** By this policy from now on; empty: nobody is ejected. */
    void follow(Optional<Outlier> next, long nowNanos) {
        if (policy.isEmpty()) {
            rateLookNanos = nowNanos;
        }
        policy = next;
    }

    /** One that is new: what was counted before does not count against it. */
    void welcome(Judged judged) {
        judged.answeredBefore = tally.answered(judged.cell);
        judged.failuresBefore = tally.failures(judged.cell);
    }

    /** Ends an ejection that is no longer the policy's. */
    void dropIfOff(Judged judged) {
        if (policy.isEmpty() && judged.ejected()) {
            judged.fitness().set(Unfit.EJECTED, false);
            judged.ejections = 0;
        }
    }

    /** Whether a row of failures ejects it. */
    boolean ejectsForARow(Judged judged) {
        return policy.isPresent() && judged.fitness().failuresInRow() > 0;
    }

    /** Unless it is ejected already. There is room for one more. */
    void eject(Judged judged, String why, long nowNanos) {
        if (judged.ejected()) {
            return;
        }
        Outlier outlier = policy.orElseThrow();
        forgive(judged, outlier, nowNanos);
        judged.ejections++;
        long lasts = outlier.maxEjectionNanos() / outlier.ejectionNanos() < judged.ejections
                ? outlier.maxEjectionNanos()
                : outlier.ejectionNanos() * judged.ejections;
        lasts += (long) (lasts * RETURN_JITTER * random.nextDouble());
        judged.ejectedUntilNanos = nowNanos + lasts;
        judged.ejectedUntil = clock.instant().plusNanos(lasts);
        judged.ejectedWhy = why;
        Fitness fitness = judged.fitness();
        fitness.set(Unfit.EJECTED, true);
        fitness.endFailures();
        fitness.countEjection();
        judged.show();
        chronicle.onEndpoint(
                judged.cell,
                Change.EJECTED,
                why + "; for " + Duration.ofNanos(lasts).toMillis() + " ms, time " + judged.ejections);
    }

    /** For each {@code ejection} that it has fared well since its last return, one is forgiven. */
    private static void forgive(Judged judged, Outlier outlier, long nowNanos) {
        if (judged.ejections > 0) {
            long well = (nowNanos - judged.ejectedUntilNanos) / outlier.ejectionNanos();
            judged.ejections = (int) Math.max(0, judged.ejections - Math.max(0, well));
        }
    }

    /** Whether it is ejected, and for long enough. */
    boolean isOver(Judged judged, long nowNanos) {
        return judged.ejected() && nowNanos - judged.ejectedUntilNanos >= 0;
    }

    /** Its ejection ends now, whenever it should have. */
    void letIn(Judged judged, String why, long nowNanos) {
        judged.ejectedUntilNanos = nowNanos;
        comeBack(judged, why);
    }

    /** Its time is over. */
    void comeBack(Judged judged, String why) {
        judged.fitness().endFailures();
        judged.fitness().set(Unfit.EJECTED, false);
        judged.show();
        chronicle.onEndpoint(judged.cell, Change.RETURNED, why);
    }

    /**
     * Ejects those of which too many connections have failed since the last look, if it is time to look.
     *
     * @param room whether one more may be out
     * @return whether rates matter, so that time brings something
     */
    boolean lookAtRates(Collection<Judged> all, Predicate<Judged> room, long nowNanos) {
        Outlier outlier = policy.orElse(null);
        if (outlier == null || outlier.failureRate() == 0) {
            return false;
        }
        if (nowNanos - rateLookNanos >= outlier.intervalNanos()) {
            rateLookNanos = nowNanos;
            all.forEach(judged -> lookAtRate(judged, outlier, room, nowNanos));
        }
        return true;
    }

    private void lookAtRate(Judged judged, Outlier outlier, Predicate<Judged> room, long nowNanos) {
        long answered = tally.answered(judged.cell) - judged.answeredBefore;
        long failures = tally.failures(judged.cell) - judged.failuresBefore;
        judged.answeredBefore += answered;
        judged.failuresBefore += failures;
        long of = answered + failures;
        boolean tooMany = of >= outlier.leastConnections() && failures * 100 >= of * outlier.failureRate();
        if (tooMany && room.test(judged)) {
            eject(judged, failures + " of " + of + " connections failed", nowNanos);
        }
    }
}
