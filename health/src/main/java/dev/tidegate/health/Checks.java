package dev.tidegate.health;

import io.netty.channel.EventLoop;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The set of targets, and when each is checked. Confined to the checks' loop, save for {@link #history}; knows no channel:
 * whoever owns it calls {@link #tick} when it asked to be called.
 */
final class Checks {
    private static final Logger LOG = LoggerFactory.getLogger(Checks.class);
    static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    static final long RECHECK_LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final StallProofTime time;
    private final InstantSource clock;
    private final RandomGenerator random;
    private final HealthListener listener;
    private final EventLoop loop;
    private final Function<Target, ProbeContext.Connector> connectors;

    private final Map<String, Check> byId = new ConcurrentHashMap<>(); // writer: the loop
    private final Agenda waiting = new Agenda();
    private final TreeSet<Check> underWay =
            new TreeSet<>(Comparator.comparingLong(Check::deadlineNanos).thenComparingInt(Check::number));
    private final Pace pace = new Pace();
    private final VoidLog voidLog = new VoidLog();
    private final LateLog lateLog = new LateLog();
    private final OwnFaults ownFaults = new OwnFaults();
    private final List<FirstRound> firstRounds = new ArrayList<>(); // those that somebody waits for
    private boolean ended;
    private boolean skippedTick;
    private int numbers;

    Checks(
            StallProofTime time,
            InstantSource clock,
            RandomGenerator random,
            HealthListener listener,
            EventLoop loop,
            Function<Target, ProbeContext.Connector> connectors) {
        this.time = time;
        this.clock = clock;
        this.random = random;
        this.listener = listener;
        this.loop = loop;
        this.connectors = connectors;
    }

    EventLoop loop() {
        return loop;
    }

    /** From 0 up to 1. */
    double chance() {
        return random.nextDouble();
    }

    OwnFaults ownFaults() {
        return ownFaults;
    }

    ProbeContext.Connector connectorFor(Target target) {
        return connectors.apply(target);
    }

    /** Any thread. */
    List<Verdict> history(String id) {
        Check check = byId.get(id);
        return check == null ? List.of() : check.history().list();
    }

    /** Somebody waits for the first results of those that have an address now. */
    private record FirstRound(Set<Check> left, CompletableFuture<Void> over) {
        /** Whether nobody is left, which has been told then. */
        boolean settle() {
            return left.isEmpty() && (over.complete(null) || over.isDone());
        }
    }

    /**
     * Has that future completed when each target that has an address by now and no result yet has one, or was removed, or
     * has lost its address; cancelled by {@link #end}.
     */
    void awaitFirstRound(CompletableFuture<Void> over) {
        if (ended) {
            over.cancel(false);
            return;
        }
        Set<Check> left = byId.values().stream()
                .filter(check -> check.canRun() && check.history().list().isEmpty())
                .collect(Collectors.toCollection(HashSet::new));
        firstRounds.add(new FirstRound(left, over));
        settleFirstRounds();
    }

    private void settleFirstRounds() {
        firstRounds.removeIf(FirstRound::settle);
    }

    private void leaveFirstRounds(Check check) {
        firstRounds.forEach(round -> round.left().remove(check));
    }

    // The set.

    /** These are the targets from now on; their ids differ. */
    void follow(Collection<Target> targets) {
        long now = time.nowNanos();
        Set<String> ids = new HashSet<>();
        for (Target target : targets) {
            ids.add(target.id());
            Check known = byId.get(target.id());
            if (known == null) {
                begin(target, now);
            } else if (!known.target().equals(target)) {
                change(known, target, now);
            }
        }
        for (Check check : new ArrayList<>(byId.values())) {
            if (!ids.contains(check.target().id())) {
                forget(check);
            }
        }
        pace.need(byId.values().stream()
                .filter(Check::canRun)
                .mapToDouble(check -> (double) Pace.WINDOW_NANOS / check.plan().intervalNanos())
                .sum());
        voidLog.keep(targets.stream().map(target -> target.subject().backend()).collect(Collectors.toSet()));
        settleFirstRounds();
    }

    private void begin(Target target, long now) {
        Check check = new Check(this, numbers++, target, now);
        byId.put(target.id(), check);
        if (check.canRun()) {
            schedule(check, now);
        }
    }

    private void change(Check check, Target next, long now) {
        boolean otherRhythm = next.plan().intervalNanos() != check.plan().intervalNanos();
        boolean askedAnew = check.describe(next);
        if (otherRhythm) {
            check.drawPhase(now);
        }
        if (askedAnew) {
            drop(check);
            if (check.canRun()) {
                schedule(check, now);
            } else {
                leaveFirstRounds(check);
            }
        } else if (waiting.contains(check)) {
            schedule(check, Math.min(check.dueNanos(), check.phaseNanos()));
        }
    }

    private void forget(Check check) {
        drop(check);
        byId.remove(check.target().id());
        leaveFirstRounds(check);
    }

    /** Neither waits nor is under way from here on. */
    private void drop(Check check) {
        waiting.remove(check);
        underWay.remove(check);
        check.cancel();
    }

    private void schedule(Check check, long atNanos) {
        waiting.remove(check);
        check.due(atNanos);
        waiting.add(check);
    }

    /** Checks that target soon: at once, but not within 100 ms of its last check's start. */
    void recheck(String id) {
        Check check = byId.get(id);
        if (check == null) {
            return;
        }
        if (check.isUnderWay()) {
            check.again();
        } else if (waiting.contains(check)) {
            long soonest = Math.max(time.nowNanos(), check.startedNanos() + RECHECK_LEAST_NANOS);
            schedule(check, Math.min(check.dueNanos(), soonest));
        }
    }

    /** Gives up all that is under way and forgets every target. */
    void end() {
        ended = true;
        firstRounds.forEach(round -> round.over().cancel(false));
        follow(List.of());
    }

    // Time.

    /**
     * Starts what is due, as far as the pace allows, and gives up what takes too long.
     *
     * @return when it wants to be called again: in so many nanoseconds, {@link StallProofTime#FOREVER} for never. Between
     *     ticks sockets are to be read
     */
    long tick() {
        long now = time.nowNanos();
        // After a stall answers may be there that nobody has read: they come first. But once only: a
        // loop whose turns are always that slow has its time-outs too.
        skippedTick = time.takeStall() && !skippedTick;
        if (!skippedTick) {
            giveUpLate(now);
            startDue(now);
        }
        long wait = untilNextTick(now);
        time.planWakeIn(wait);
        return wait;
    }

    private void giveUpLate(long now) {
        while (!underWay.isEmpty() && underWay.first().deadlineNanos() <= now) {
            underWay.pollFirst().timeOut();
        }
    }

    private void startDue(long now) {
        for (int free = pace.free(now); free > 0; free--) {
            Check check = waiting.poll(now);
            if (check == null) {
                return;
            }
            pace.started(now);
            noteIfLate(check, now);
            check.start(now);
            settle(check);
        }
    }

    private void noteIfLate(Check check, long now) {
        Target target = check.target();
        long late = now - check.dueNanos();
        if (late > target.plan().intervalNanos()) {
            lateLog.on(target, late, now, byId.size());
            tell(target, () -> listener.onLate(target.id(), late));
        }
    }

    /** After a step of a check that may have ended within it. */
    private void settle(Check check) {
        if (check.isUnderWay()) {
            underWay.add(check);
        }
    }

    private long untilNextTick(long now) {
        if (!underWay.isEmpty()) {
            return TICK_NANOS;
        }
        return Math.max(TICK_NANOS, waiting.untilDueNanos(now));
    }

    // What checks say. These come from within start, timeOut, or an event of a socket.

    void onTurn(Check check) {
        if (underWay.remove(check)) {
            check.restart(time.nowNanos());
            settle(check);
        }
    }

    void onNextAttempt(Check check) {
        underWay.remove(check);
        check.proceed(time.nowNanos());
        settle(check);
    }

    void onEnd(Check check) {
        underWay.remove(check);
        long now = time.nowNanos();
        Condition before = check.condition();
        Verdict verdict = check.judge(now, clock.instant());
        schedule(check, check.nextDueNanos(now));
        if (verdict.finding().word() == Word.VOID) {
            voidLog.on(check.target(), verdict.finding().detail(), now);
        }
        tell(check.target(), () -> listener.onVerdict(check.target().id(), before, verdict));
        leaveFirstRounds(check);
        settleFirstRounds();
    }

    private static void tell(Target target, Runnable news) {
        try {
            news.run();
        } catch (Throwable e) {
            LOG.error("a listener failed: target={}", target.id(), e);
        }
    }
}
