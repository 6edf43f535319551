package dev.tidegate.fitness;

import dev.tidegate.fitness.Chronicle.Change;
import dev.tidegate.fitness.FitnessPolicy.Breaker;
import dev.tidegate.fitness.FitnessPolicy.Outlier;
import dev.tidegate.fitness.FitnessPolicy.SlowStart;
import dev.tidegate.fitness.Standing.BreakerState;
import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Judges the endpoints of one backend.
 *
 * <p><b>Ejection</b> asks whether an endpoint is worse than its siblings: failures in a row, or too great a share of
 * failures, take it out for a while that grows with each time (Envoy's outlier detection is the model), or until checks that have
 * found it down meanwhile find it up. <b>The breaker</b>
 * asks whether dialing it is futile now: connects that fail in a row open it; after a while a few connects try it (Nygard,
 * "Release It!"). Both together take out the larger of one endpoint and the share that the policy allows, rounded down, and
 * never the last that nothing speaks against. When operators let fewer take connections, or one that is out again, those come
 * back early that are too many then. <b>Slow start</b> gives an endpoint that is new or has come back a share that
 * grows: max(least, (t / window)^(1 / aggression)), Envoy's curve. At the start of the process all would be new: whoever is
 * usable within its first ten seconds, and was not found otherwise before, is whole. <b>Panic</b> is when too few of those that take
 * connections and have been checked are fit.
 *
 * <p>Confined to control's thread, but for {@link #of}.
 */
final class BackendJudge {
    /** A return is put off by up to this part of the ejection, so that those ejected at one moment do not come back at one. */
    private static final double RETURN_JITTER = 0.1;

    /** How long the start of the process lasts: what it finds fit then is whole at once. */
    static final long START_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final InstantSource clock;
    private final RandomGenerator random;
    private final Chronicle chronicle;
    private final Tally tally;
    /** In the order of the configuration; replaced as a whole, so that any thread may look. */
    private volatile Map<EndpointCell, Judged> all = Map.of();

    private Backend backend;
    private FitnessPolicy policy;
    private long rateLookNanos;
    private long startNanos;

    BackendJudge(InstantSource clock, RandomGenerator random, Chronicle chronicle, Tally tally) {
        this.clock = clock;
        this.random = random;
        this.chronicle = chronicle;
        this.tally = tally;
    }

    Judged of(EndpointCell endpoint) {
        return all.get(endpoint);
    }

    // ---- what is judged

    /**
     * Judges these endpoints from now on, by this policy. To be called before the snapshot is published: new endpoints are
     * what the policy says they are at first.
     *
     * @param atStart whether the process starts: what is fit soon after, and was not found otherwise before, is whole
     */
    void follow(Backend next, FitnessPolicy nextPolicy, boolean atStart, long nowNanos) {
        boolean ratesBegan = policy == null || policy.outlier().isEmpty();
        backend = next;
        policy = nextPolicy;
        if (atStart) {
            startNanos = nowNanos;
        }
        if (ratesBegan) {
            rateLookNanos = nowNanos;
        }
        Map<EndpointCell, Judged> before = new HashMap<>(all);
        Map<EndpointCell, Judged> now = new LinkedHashMap<>();
        for (Endpoint endpoint : next.endpoints().all()) {
            Judged judged = before.remove(endpoint.cell());
            if (judged == null) {
                judged = welcome(endpoint.cell(), atStart);
            }
            // Who is closed at the start is opened by an operator, who does not ask for a rush.
            judged.known |= !endpoint.cell().open() || endpoint.weight() == 0;
            now.put(endpoint.cell(), judged);
        }
        all = Collections.unmodifiableMap(now);
        dropWhatIsOff();
        settle(nowNanos);
    }

    private Judged welcome(EndpointCell cell, boolean atStart) {
        Judged judged = new Judged(cell);
        judged.known = !atStart;
        judged.answeredBefore = tally.answered(cell);
        judged.failuresBefore = tally.failures(cell);
        clear(judged.fitness()); // it may have been here before
        policy.initial().ifPresent(unfit -> judged.fitness().set(unfit, true));
        return judged;
    }

    private static void clear(Fitness fitness) {
        for (Unfit unfit : Unfit.values()) {
            fitness.set(unfit, false);
        }
        fitness.endTrials();
        fitness.endFailures();
        fitness.endConnectFailures();
        fitness.share(Fitness.FULL_SHARE);
    }

    private void dropWhatIsOff() {
        for (Judged judged : all.values()) {
            Fitness fitness = judged.fitness();
            if (!policy.checked()) {
                fitness.set(Unfit.UNCHECKED, false);
                fitness.set(Unfit.DOWN, false);
                fitness.set(Unfit.NOT_READY, false);
            }
            if (policy.outlier().isEmpty() && judged.ejected()) {
                fitness.set(Unfit.EJECTED, false);
                judged.ejections = 0;
            }
            if (policy.breaker().isEmpty() && judged.breaker != BreakerState.CLOSED) {
                closeBreaker(judged);
            }
            if (policy.slowStart().isEmpty()) {
                judged.growing = false;
                fitness.share(Fitness.FULL_SHARE);
            }
            show(judged);
        }
    }

    // ---- verdicts

    /** Checks say so; {@code unfit} null: it is up. {@code news} is told between that and what follows from it. */
    void onChecked(EndpointCell endpoint, Unfit unfit, Runnable news, long nowNanos) {
        Judged judged = all.get(endpoint);
        if (judged == null) {
            return;
        }
        Fitness fitness = judged.fitness();
        boolean backFromTheDead = unfit == null && fitness.unfit(Unfit.DOWN) && judged.ejected();
        if (backFromTheDead) {
            growIfBackBut(judged, nowNanos, Unfit.DOWN, Unfit.EJECTED);
        } else if (unfit == null) {
            // Before it is fit: in no moment has it more than its first share.
            growIfBackBut(judged, nowNanos, Unfit.UNCHECKED, Unfit.DOWN, Unfit.NOT_READY);
        } else {
            fitness.set(unfit, true);
            judged.known |= unfit != Unfit.UNCHECKED;
        }
        for (Unfit other : new Unfit[] {Unfit.UNCHECKED, Unfit.DOWN, Unfit.NOT_READY}) {
            if (other != unfit) {
                fitness.set(other, false);
            }
        }
        news.run();
        if (backFromTheDead) {
            // Else its siblings, which may have too much to do without it, would wait for it as long as if it were
            // dead.
            judged.ejectedUntilNanos = nowNanos;
            comeBack(judged, "checks found it down, and up again since");
        }
        settle(nowNanos);
    }

    /** A check has not found it fit; what was thought of it stays. */
    void onFoundUnfit(EndpointCell endpoint) {
        Judged judged = all.get(endpoint);
        if (judged != null) {
            judged.known = true;
        }
    }

    void onFailures(EndpointCell endpoint, Failure last, int inRow, long nowNanos) {
        Judged judged = all.get(endpoint);
        if (judged != null && policy.outlier().isPresent() && judged.fitness().failuresInRow() > 0) {
            eject(judged, inRow + " failures in a row, the last: " + last.word(), nowNanos);
            settle(nowNanos);
        }
    }

    void onConnectFailures(EndpointCell endpoint, Failure last, int inRow, long nowNanos) {
        Judged judged = all.get(endpoint);
        if (judged == null || policy.breaker().isEmpty() || judged.breaker == BreakerState.OPEN) {
            return;
        }
        if (judged.breaker == BreakerState.HALF_OPEN || mayTakeOut(judged)) {
            openBreaker(judged, policy.breaker().get(), inRow, last, nowNanos);
            settle(nowNanos);
        }
    }

    void onTrialPassed(EndpointCell endpoint, long nowNanos) {
        Judged judged = all.get(endpoint);
        if (judged != null && judged.breaker == BreakerState.HALF_OPEN) {
            growIfBackBut(judged, nowNanos, Unfit.BREAKER_OPEN);
            closeBreaker(judged);
            chronicle.onEndpoint(endpoint, Change.BREAKER_CLOSED, "a trial connect came through");
            settle(nowNanos);
        }
    }

    private void eject(Judged judged, String why, long nowNanos) {
        if (judged.ejected() || !mayTakeOut(judged)) {
            return;
        }
        Outlier outlier = policy.outlier().orElseThrow();
        forgive(judged, outlier, nowNanos);
        judged.ejections++;
        long lasts = outlier.maxEjectionNanos() / outlier.ejectionNanos() < judged.ejections
                ? outlier.maxEjectionNanos()
                : outlier.ejectionNanos() * judged.ejections;
        lasts += (long) (lasts * RETURN_JITTER * random.nextDouble());
        judged.ejectedUntilNanos = nowNanos + lasts;
        Fitness fitness = judged.fitness();
        fitness.set(Unfit.EJECTED, true);
        fitness.endFailures();
        fitness.countEjection();
        Instant until = clock.instant().plusNanos(lasts);
        judged.standing = new Standing(until, why, judged.ejections, breakerWord(judged), null);
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

    /** Whether one more may be out: not more than the policy's share, and never the last that nothing speaks against. */
    private boolean mayTakeOut(Judged judged) {
        if (judged.out()) {
            return true;
        }
        boolean another =
                taking().anyMatch(one -> one != judged && one.fitness().sound() && !one.out());
        return another && taking().filter(Judged::out).count() < mostOut();
    }

    /** The larger of one and the policy's share, rounded down, and never all. */
    private long mostOut() {
        long taking = taking().count();
        return Math.min(taking - 1, Math.max(1, taking * policy.maxOut() / 100));
    }

    private Stream<Judged> taking() {
        return backend.endpoints().all().stream()
                .filter(Endpoint::takesConnections)
                .map(endpoint -> all.get(endpoint.cell()));
    }

    /**
     * Keeps to the most that may be out when fewer may than before, or one of those that are out is opened again: those are
     * let in early whose time would be over first.
     */
    private void letInWhoIsTooMany(long nowNanos) {
        List<Judged> out = taking().filter(Judged::out).toList();
        long tooMany = out.isEmpty() ? 0 : out.size() - mostOut();
        if (tooMany > 0) {
            String why = "let in early: no more than " + mostOut() + " of " + taking().count() + " may be out";
            out.stream()
                    .sorted(Comparator.comparingLong(judged -> judged.outUntilNanos() - nowNanos))
                    .limit(tooMany)
                    .forEach(judged -> letIn(judged, why, nowNanos));
        }
    }

    private void letIn(Judged judged, String why, long nowNanos) {
        growIfBackBut(judged, nowNanos, Unfit.EJECTED, Unfit.BREAKER_OPEN);
        if (judged.ejected()) {
            judged.ejectedUntilNanos = nowNanos;
            comeBack(judged, why);
        }
        if (judged.breaker != BreakerState.CLOSED) {
            closeBreaker(judged);
            chronicle.onEndpoint(judged.cell, Change.BREAKER_CLOSED, why);
        }
    }

    private void comeBack(Judged judged, String why) {
        judged.fitness().endFailures();
        judged.fitness().set(Unfit.EJECTED, false);
        show(judged);
        chronicle.onEndpoint(judged.cell, Change.RETURNED, why);
    }

    private void openBreaker(Judged judged, Breaker breaker, int inRow, Failure last, long nowNanos) {
        boolean again = judged.breaker == BreakerState.HALF_OPEN;
        judged.breaker = BreakerState.OPEN;
        judged.breakerUntilNanos = nowNanos + breaker.openNanos();
        Fitness fitness = judged.fitness();
        fitness.set(Unfit.BREAKER_OPEN, true);
        fitness.endTrials();
        fitness.endConnectFailures();
        show(judged);
        chronicle.onEndpoint(
                judged.cell,
                Change.BREAKER_OPEN,
                again
                        ? "a trial connect failed: " + last.word()
                        : inRow + " connects in a row failed, the last: " + last.word());
    }

    private void closeBreaker(Judged judged) {
        judged.breaker = BreakerState.CLOSED;
        Fitness fitness = judged.fitness();
        fitness.endConnectFailures();
        fitness.endTrials();
        fitness.set(Unfit.BREAKER_OPEN, false);
        show(judged);
    }

    // ---- time

    /**
     * Does what time brings.
     *
     * @return whether time is going to bring more
     */
    boolean tick(long nowNanos) {
        boolean more = lookAtRates(nowNanos);
        for (Judged judged : all.values()) {
            if (judged.ejected() && nowNanos - judged.ejectedUntilNanos >= 0) {
                growIfBackBut(judged, nowNanos, Unfit.EJECTED);
                comeBack(judged, "its time is over");
            }
            if (judged.breaker == BreakerState.OPEN && nowNanos - judged.breakerUntilNanos >= 0) {
                judged.breaker = BreakerState.HALF_OPEN;
                int trials = policy.breaker().orElseThrow().trials();
                judged.fitness().beginTrials(trials);
                judged.fitness().set(Unfit.BREAKER_OPEN, false);
                show(judged);
                chronicle.onEndpoint(
                        judged.cell, Change.BREAKER_HALF_OPEN, "connects that try it, at a time: " + trials);
            }
            grow(judged, nowNanos);
            more |= judged.ejected() || judged.breaker == BreakerState.OPEN || judged.growing;
        }
        settle(nowNanos);
        return more;
    }

    private boolean lookAtRates(long nowNanos) {
        Outlier outlier = policy.outlier().orElse(null);
        if (outlier == null || outlier.failureRate() == 0) {
            return false;
        }
        if (nowNanos - rateLookNanos >= outlier.intervalNanos()) {
            rateLookNanos = nowNanos;
            all.values().forEach(judged -> lookAtRate(judged, outlier, nowNanos));
        }
        return true;
    }

    private void lookAtRate(Judged judged, Outlier outlier, long nowNanos) {
        long answered = tally.answered(judged.cell) - judged.answeredBefore;
        long failures = tally.failures(judged.cell) - judged.failuresBefore;
        judged.answeredBefore += answered;
        judged.failuresBefore += failures;
        long of = answered + failures;
        if (of >= outlier.leastConnections() && failures * 100 >= of * outlier.failureRate()) {
            eject(judged, failures + " of " + of + " connections failed", nowNanos);
        }
    }

    /** Begins its growth if it is about to be fit: nothing but these speak against it. */
    private void growIfBackBut(Judged judged, long nowNanos, Unfit... leaving) {
        if (grows(judged, nowNanos) && !judged.usable && judged.fitness().soundBut(leaving)) {
            beginToGrow(judged, nowNanos);
        }
    }

    /** Whether it has its share little by little when it becomes usable: always, but once at the start of the process. */
    private boolean grows(Judged judged, long nowNanos) {
        return judged.known || nowNanos - startNanos >= START_NANOS;
    }

    private void beginToGrow(Judged judged, long nowNanos) {
        policy.slowStart().ifPresent(slow -> {
            judged.growing = true;
            judged.growsSinceNanos = nowNanos;
            judged.fitness().share(thousandths(slow, 0));
        });
    }

    private void grow(Judged judged, long nowNanos) {
        if (judged.growing && policy.slowStart().isPresent()) {
            int share = thousandths(policy.slowStart().get(), nowNanos - judged.growsSinceNanos);
            judged.fitness().share(share);
            judged.growing = share < Fitness.FULL_SHARE;
        }
    }

    static int thousandths(SlowStart slow, long sinceNanos) {
        double passed = Math.min(1, (double) sinceNanos / slow.windowNanos());
        double share = Math.max(slow.leastShare() / 100.0, Math.pow(passed, 1 / slow.aggression()));
        return Math.max(1, (int) Math.round(Fitness.FULL_SHARE * share));
    }

    // ---- what follows from it all

    private void settle(long nowNanos) {
        letInWhoIsTooMany(nowNanos);
        int counted = 0;
        int fit = 0;
        int unchecked = 0;
        for (Endpoint endpoint : backend.endpoints().all()) {
            Judged judged = all.get(endpoint.cell());
            boolean sound = judged.fitness().sound();
            boolean takes = endpoint.takesConnections();
            boolean usable = takes && sound;
            if (usable && !judged.usable && grows(judged, nowNanos) && !judged.growing) {
                beginToGrow(judged, nowNanos); // new, or an operator has let it in again
            } else if (!usable) {
                judged.growing = false;
                judged.fitness().share(shareWhileAway(judged, takes, nowNanos));
            }
            judged.usable = usable;
            judged.known |= usable;
            if (takes && judged.fitness().unfit(Unfit.UNCHECKED)) {
                unchecked++;
            } else if (takes) {
                counted++;
                fit += sound ? 1 : 0;
            }
        }
        panic(fit, counted, unchecked);
    }

    /** Who is closed begins with its least share in the moment it is opened; who is unfit may be needed in a panic. */
    private int shareWhileAway(Judged judged, boolean takes, long nowNanos) {
        return takes || !grows(judged, nowNanos) || policy.slowStart().isEmpty()
                ? Fitness.FULL_SHARE
                : thousandths(policy.slowStart().get(), 0);
    }

    /** Endpoints that are not checked yet count neither way; while there are no others, they are all there is. */
    private void panic(int fit, int counted, int unchecked) {
        FitnessPolicy.Panic rule = policy.panic();
        boolean now = counted > 0 && fit * 100 < counted * rule.threshold();
        boolean before = backend.cell().panic();
        boolean onlyUnchecked = counted == 0 && unchecked > 0;
        backend.cell().panic(now, rule.spread() && (now || onlyUnchecked));
        if (now != before) {
            chronicle.onPanic(backend.name(), now, fit, counted);
        }
    }

    private BreakerState breakerWord(Judged judged) {
        return policy.breaker().isPresent() ? judged.breaker : null;
    }

    /** Whoever looks sees where it stands now. */
    private void show(Judged judged) {
        Standing last = judged.standing;
        boolean ejected = judged.ejected();
        Instant breakerUntil = null;
        if (judged.breaker == BreakerState.OPEN) {
            breakerUntil = last.breaker() == BreakerState.OPEN
                    ? last.breakerUntil()
                    : clock.instant()
                            .plusNanos(policy.breaker().map(Breaker::openNanos).orElse(0L));
        }
        judged.standing = new Standing(
                ejected ? last.ejectedUntil() : null,
                ejected ? last.ejectedWhy() : null,
                judged.ejections,
                breakerWord(judged),
                breakerUntil);
    }
}
