package dev.tidegate.fitness;

import dev.tidegate.fitness.Standing.BreakerState;
import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Judges the endpoints of one backend: brings together what checks say, {@link Ejections}, {@link Breakers} and {@link SlowStarts}.
 *
 * <p>Ejection asks whether an endpoint is worse than its siblings: failures in a row, or too great a share of failures, take it
 * out for a while that grows with each time, or until checks that have found it down meanwhile find it up. The breaker asks
 * whether dialing it is futile now: connects that fail in a row open it; after a while a few connects try it. <b>Both
 * together</b> take out the larger of one endpoint and the share that the policy allows, rounded down, and never the last that
 * nothing speaks against. When operators let fewer take connections, or one that is out again, those come back early that are too
 * many then. <b>Panic</b> is when too few of those that take connections and have been checked are fit.
 *
 * <p>Confined to control's thread, but for {@link #of}.
 */
final class BackendJudge {
    private final Chronicle chronicle;
    private final Ejections ejections;
    private final Breakers breakers;
    private final SlowStarts slowStarts = new SlowStarts();
    /** In the order of the configuration; replaced as a whole, so that any thread may look. */
    private volatile Map<EndpointCell, Judged> all = Map.of();

    private Backend backend;
    private FitnessPolicy policy;

    BackendJudge(InstantSource clock, RandomGenerator random, Chronicle chronicle, Tally tally) {
        this.chronicle = chronicle;
        ejections = new Ejections(clock, random, chronicle, tally);
        breakers = new Breakers(clock, chronicle);
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
        backend = next;
        policy = nextPolicy;
        ejections.follow(nextPolicy.outlier(), nowNanos);
        breakers.follow(nextPolicy.breaker());
        slowStarts.follow(nextPolicy.slowStart(), atStart, nowNanos);
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
        ejections.welcome(judged);
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
            ejections.dropIfOff(judged);
            judged.hasBreaker = policy.breaker().isPresent();
            breakers.dropIfOff(judged);
            slowStarts.dropIfOff(judged);
            judged.show();
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
            slowStarts.beginIfBackBut(judged, nowNanos, Unfit.DOWN, Unfit.EJECTED);
        } else if (unfit == null) {
            // Before it is fit: in no moment has it more than its first share.
            slowStarts.beginIfBackBut(judged, nowNanos, Unfit.UNCHECKED, Unfit.DOWN, Unfit.NOT_READY);
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
            // Else its siblings, which may have too much to do without it, wait for one that lives.
            ejections.letIn(judged, "checks found it down, and up again since", nowNanos);
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
        if (judged != null && ejections.ejectsForARow(judged) && mayTakeOut(judged)) {
            ejections.eject(judged, inRow + " failures in a row, the last: " + last.word(), nowNanos);
            settle(nowNanos);
        }
    }

    void onConnectFailures(EndpointCell endpoint, Failure last, int inRow, long nowNanos) {
        Judged judged = all.get(endpoint);
        if (judged != null && breakers.opens(judged, inRow) && mayTakeOut(judged)) {
            breakers.open(judged, inRow, last, nowNanos);
            settle(nowNanos);
        }
    }

    void onTrialPassed(EndpointCell endpoint, long nowNanos) {
        Judged judged = all.get(endpoint);
        if (judged != null && judged.breaker == BreakerState.HALF_OPEN) {
            slowStarts.beginIfBackBut(judged, nowNanos, Unfit.BREAKER_OPEN);
            breakers.close(judged, "a trial connect came through");
            settle(nowNanos);
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
        slowStarts.beginIfBackBut(judged, nowNanos, Unfit.EJECTED, Unfit.BREAKER_OPEN);
        if (judged.ejected()) {
            ejections.letIn(judged, why, nowNanos);
        }
        if (judged.breaker != BreakerState.CLOSED) {
            breakers.close(judged, why);
        }
    }

    // ---- time

    /**
     * Does what time brings.
     *
     * @return whether time is going to bring more
     */
    boolean tick(long nowNanos) {
        boolean more = ejections.lookAtRates(all.values(), this::mayTakeOut, nowNanos);
        for (Judged judged : all.values()) {
            if (ejections.isOver(judged, nowNanos)) {
                slowStarts.beginIfBackBut(judged, nowNanos, Unfit.EJECTED);
                ejections.comeBack(judged, "its time is over");
            }
            breakers.tick(judged, nowNanos);
            slowStarts.tick(judged, nowNanos);
            more |= judged.ejected() || judged.breaker == BreakerState.OPEN || judged.growing;
        }
        settle(nowNanos);
        return more;
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
            if (usable && !judged.usable) {
                slowStarts.beginIfNew(judged, nowNanos);
            } else if (!usable) {
                slowStarts.stop(judged, takes, nowNanos);
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
}
