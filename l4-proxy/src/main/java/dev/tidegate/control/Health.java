package dev.tidegate.control;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.HealthConfig;
import dev.tidegate.fitness.Chronicle;
import dev.tidegate.fitness.FitnessPolicy;
import dev.tidegate.fitness.Judge;
import dev.tidegate.fitness.Standing;
import dev.tidegate.fitness.Tally;
import dev.tidegate.health.Condition;
import dev.tidegate.health.HealthChecker;
import dev.tidegate.health.HealthListener;
import dev.tidegate.health.Target;
import dev.tidegate.health.Verdict;
import dev.tidegate.health.Word;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import dev.tidegate.model.Snapshot;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has endpoints checked, and brings together what checks and connections say of them: verdicts on their cells, words in the
 * log, events.
 *
 * <p>Confined to control's thread, save for what says otherwise. Checks run on a thread of their own.
 */
final class Health implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Health.class);

    /** How often ejections, breakers and slow starts are looked at while there are any. */
    private static final long TICK_MILLIS = 50;

    /**
     * How an endpoint's checks stand. Immutable.
     *
     * @param id what the checks know it by: another one each time that checks of it begin, so that a word about the time
     *     before is not taken for one about this
     * @param start what it was when its checks began
     * @param condition what they say
     * @param since when they have said so first
     * @param last the last check; null before the first
     * @param lastNanos when it ended
     */
    record Checked(String id, Condition start, Condition condition, Instant since, Verdict last, long lastNanos) {
        /** For how much longer than now it is held down because it flaps. */
        long heldNanos(long nowNanos) {
            return last == null ? 0 : Math.max(0, last.heldNanos() - (nowNanos - lastNanos));
        }
    }

    /** What connections of an endpoint are told when it goes down or comes back. May be repeated. On control's thread. */
    interface Aftermath {
        /** It is down. */
        void onDown(EndpointCell endpoint, HealthConfig.OnDown policy);

        /** It is not. */
        void onAlive(EndpointCell endpoint);
    }

    private final Ticker ticker;
    private final InstantSource clock;
    private final RandomGenerator checksRandom;
    private final Events events;
    private final ScheduledExecutorService control;
    private final Judge judge;
    private final Threads threads;
    private final Map<EndpointCell, Checked> checked =
            new ConcurrentHashMap<>(); // writers: the checks' thread, control
    private volatile Map<String, EndpointCell> cells = Map.of(); // writer: control; by a target's id
    private Consumer<EndpointCell> onTrouble = endpoint -> {};
    private Runnable onChange = () -> {};
    private Aftermath aftermath;
    private Map<String, BackendConfig> settings = Map.of(); // by the backend's name
    private Map<String, HealthConfig.OnDown> onDown = Map.of(); // of what is checked, as last followed
    private volatile HealthChecker checker; // writer: control; null while nothing is checked
    private volatile CompletableFuture<Void> firstRound =
            CompletableFuture.completedFuture(null); // writer: control; only what is there at the start is waited for
    private volatile CompletableFuture<Void> named =
            CompletableFuture.completedFuture(null); // writer: control; names have been asked for
    private volatile CompletableFuture<Void> known =
            CompletableFuture.completedFuture(null); // writer: control; the same, with what has a name
    private long begun; // checks of an endpoint
    private boolean followed;
    private boolean ticking;
    private boolean closed;

    /**
     * @param ticker monotonic time
     * @param clock what operators read
     * @param judgeRandom for the jitter of returns
     * @param checksRandom for the jitter of checks; used by their thread only
     * @param events is told each change
     * @param control its thread
     * @param tally what workers have counted
     * @param threads make what carries checks out
     */
    Health(
            Ticker ticker,
            InstantSource clock,
            RandomGenerator judgeRandom,
            RandomGenerator checksRandom,
            Events events,
            ScheduledExecutorService control,
            Tally tally,
            Threads threads) {
        this.threads = threads;
        this.ticker = ticker;
        this.clock = clock;
        this.checksRandom = checksRandom;
        this.events = events;
        this.control = control;
        this.judge = new Judge(ticker, clock, judgeRandom, new Telling(), tally, this::post);
    }

    /**
     * Says who else is to know; before the first {@link #follow}.
     *
     * @param onTrouble is told of an endpoint that a check or its connections find fault with; any thread
     * @param onChange is told when an endpoint has become fit
     * @param after what becomes of connections
     */
    void tell(Consumer<EndpointCell> onTrouble, Runnable onChange, Aftermath after) {
        this.onTrouble = onTrouble;
        this.onChange = onChange;
        this.aftermath = after;
    }

    Judge judge() {
        return judge;
    }

    /** To be called before a snapshot is published: endpoints in it are what they are to be at first. */
    void prepare(Config next, Snapshot snapshot) {
        Map<String, BackendConfig> byName = new HashMap<>();
        Map<String, FitnessPolicy> policies = new HashMap<>();
        for (BackendConfig backend : next.backends()) {
            byName.put(backend.name(), backend);
            policies.put(backend.name(), FitnessPolicies.of(backend));
        }
        settings = byName;
        judge.follow(snapshot.backends(), policies, !followed);
        followed = true;
    }

    /** Has the endpoints of a snapshot checked, where they are now. */
    void follow(Snapshot snapshot) {
        List<Target> targets = new ArrayList<>();
        Map<String, EndpointCell> next = new HashMap<>();
        for (Backend backend : snapshot.backends()) {
            HealthConfig health = health(backend.name());
            if (health != null) {
                for (Endpoint endpoint : backend.endpoints().all()) {
                    Checked stands = checked.computeIfAbsent(endpoint.cell(), this::begin);
                    targets.add(
                            Targets.of(settings.get(backend.name()), health, endpoint, stands.id(), stands.start()));
                    next.put(stands.id(), endpoint.cell());
                }
            }
        }
        cells = Map.copyOf(next);
        checked.keySet().retainAll(new HashSet<>(next.values())); // a set, since each is asked for
        followOnDown(snapshot);
        if (checker == null && !targets.isEmpty() && !closed) {
            checker = threads.checker(
                    new HealthChecker.Settings(ticker::nanoTime, clock, checksRandom, HealthChecker.Io.best()),
                    new Listening());
        }
        if (checker != null) {
            checker.follow(targets);
        }
        keepTicking();
    }

    /**
     * Checks of an endpoint begin: with what stands on its cell, so that they and the judge agree from the first moment. A
     * new one stands as {@code initial} says; one that was here before, unchecked, is up.
     */
    private Checked begin(EndpointCell cell) {
        Condition start = condition(cell.fitness());
        return new Checked(Targets.id(cell) + "#" + ++begun, start, start, clock.instant(), null, ticker.nanoTime());
    }

    private static Condition condition(Fitness fitness) {
        if (fitness.unfit(Unfit.UNCHECKED)) {
            return Condition.UNKNOWN;
        } else if (fitness.unfit(Unfit.DOWN)) {
            return Condition.DOWN;
        }
        return fitness.unfit(Unfit.NOT_READY) ? Condition.NOT_READY : Condition.UP;
    }

    /**
     * What was just followed is what there is at the start: who waits for its endpoints waits from here on.
     *
     * @param asked is done when each name has been asked for once; of addresses control has been told before
     */
    void awaitFirst(CompletableFuture<Void> asked) {
        named = asked;
        firstRound = roundOver();
        CompletableFuture<Void> all = new CompletableFuture<>();
        known = all;
        var unused = asked.thenRun(() -> post(() -> roundOver().thenRun(() -> all.complete(null))));
    }

    /** Over is it when its verdicts stand on the cells: control hears of them before it hears of this. */
    private CompletableFuture<Void> roundOver() {
        if (checker == null) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> over = new CompletableFuture<>();
        var unused = checker.firstRoundOver().thenRun(() -> post(() -> over.complete(null)));
        return over;
    }

    /** How a backend is checked; null when it is not. */
    private HealthConfig health(String backend) {
        BackendConfig known = settings.get(backend);
        return known == null ? null : known.health().orElse(null);
    }

    /** What has another policy than before: connections of those that are down fare by it from now on. */
    private void followOnDown(Snapshot snapshot) {
        Map<String, HealthConfig.OnDown> before = onDown;
        Map<String, HealthConfig.OnDown> now = new HashMap<>();
        for (Backend backend : snapshot.backends()) {
            String name = backend.name();
            HealthConfig health = health(name);
            HealthConfig.OnDown policy = health == null ? HealthConfig.OnDown.KEEP : health.onDown();
            now.put(name, policy);
            if (policy != before.getOrDefault(name, HealthConfig.OnDown.KEEP)) {
                for (Endpoint endpoint : backend.endpoints().all()) {
                    aftermath.onAlive(endpoint.cell());
                    if (endpoint.cell().fitness().unfit(Unfit.DOWN)) {
                        aftermath.onDown(endpoint.cell(), policy);
                    }
                }
            }
        }
        onDown = now;
    }

    /** Names have other addresses than before. */
    void followAddresses(Snapshot snapshot) {
        if (followed && !closed) {
            follow(snapshot);
            judge.tick();
        }
    }

    /**
     * Is done when every endpoint that was to be checked at the start has been, once; fails by {@link #close} if that was
     * not so. Any thread; completed on control's.
     */
    CompletableFuture<Void> firstRound() {
        return firstRound.copy();
    }

    /** Whether it is done, and has not failed. Any thread. */
    boolean firstRoundOver() {
        CompletableFuture<Void> round = firstRound;
        return round.isDone() && !round.isCompletedExceptionally();
    }

    /**
     * Is done when every name that there was at the start has been asked for once, and every endpoint that has an address by
     * then and is checked has been checked once; fails by {@link #close} if that was not so. Any thread; completed on
     * control's.
     */
    CompletableFuture<Void> known() {
        return known.copy();
    }

    /**
     * Whether an endpoint that cannot be picked may be soon, for all that is known: at the start its name has not been asked
     * for, or it has not been checked; or it passes its checks, and not often enough so far. Any thread.
     */
    boolean promises(Endpoint endpoint) {
        EndpointCell cell = endpoint.cell();
        if (!cell.open()) {
            return false;
        }
        Checked stands = checked.get(cell);
        if (stands == null || !cell.resolved()) {
            return !cell.resolved() && !named.isDone();
        }
        Verdict last = stands.last();
        return last == null
                || (last.finding().word() == Word.PASS && last.condition() != Condition.UP && last.heldNanos() == 0);
    }

    /** How an endpoint's checks stand; null when it is not checked. Any thread. */
    Checked checked(EndpointCell endpoint) {
        return checked.get(endpoint);
    }

    /** For how much longer an endpoint is held down because it flaps, in nanoseconds; 0 when it is not. Any thread. */
    long heldNanos(EndpointCell endpoint) {
        Checked stands = checked.get(endpoint);
        return stands == null ? 0 : stands.heldNanos(ticker.nanoTime());
    }

    /** The last checks of an endpoint, the oldest first. Any thread. */
    List<Verdict> history(EndpointCell endpoint) {
        HealthChecker now = checker;
        Checked stands = checked.get(endpoint);
        return now == null || stands == null ? List.of() : now.history(stands.id());
    }

    /** What is thought of an endpoint besides. Any thread. */
    Standing standing(EndpointCell endpoint) {
        return judge.standing(endpoint);
    }

    @Override
    public void close() {
        closed = true;
        firstRound.cancel(false);
        known.cancel(false);
        if (checker != null) {
            checker.close();
        }
    }

    // ---- what checks say

    /** On the checks' thread. */
    private final class Listening implements HealthListener {
        @Override
        public void onVerdict(String id, Condition before, Verdict verdict) {
            EndpointCell cell = cells.get(id);
            if (cell == null) {
                return;
            }
            Word word = verdict.finding().word();
            if (word != Word.VOID) {
                cell.fitness().countCheck(word == Word.PASS, verdict.time().toEpochMilli());
            }
            Checked stood = checked.get(cell);
            checked.computeIfPresent(cell, (same, last) -> last.id().equals(id) ? after(last, verdict) : last);
            if (word == Word.FAIL) {
                onTrouble.accept(cell);
            }
            if (word == Word.FAIL && before == Condition.DOWN && isFirst(stood)) {
                post(() -> onFoundUnfit(id, cell)); // no change, but it was no more than assumed before
            }
            if (before != verdict.condition()) {
                post(() -> onChange(id, cell, before, verdict));
            }
        }

        @Override
        public void onLate(String id, long lateNanos) {
            EndpointCell cell = cells.get(id);
            if (cell != null) {
                cell.fitness().countLateCheck();
            }
        }
    }

    private static boolean isFirst(Checked stood) {
        return stood != null && (stood.last() == null || stood.last().finding().word() == Word.VOID);
    }

    private void onFoundUnfit(String id, EndpointCell cell) {
        if (cells.get(id) == cell) {
            judge.onFoundUnfit(cell);
        }
    }

    private Checked after(Checked last, Verdict verdict) {
        return new Checked(
                last.id(),
                last.start(),
                verdict.condition(),
                last.condition() == verdict.condition() ? last.since() : verdict.time(),
                verdict,
                ticker.nanoTime());
    }

    private void onChange(String id, EndpointCell cell, Condition before, Verdict verdict) {
        if (cells.get(id) != cell) {
            return; // it has been taken away meanwhile, or its checks have begun anew
        }
        Condition now = verdict.condition();
        Unfit unfit =
                switch (now) {
                    case UP -> null;
                    case DOWN -> Unfit.DOWN;
                    case NOT_READY -> Unfit.NOT_READY;
                    case UNKNOWN -> Unfit.UNCHECKED;
                };
        judge.onChecked(cell, unfit, () -> tell(cell, before, verdict));
        if (now == Condition.DOWN) {
            HealthConfig health = health(cell.backend());
            if (health != null) {
                aftermath.onDown(cell, health.onDown());
            }
        } else {
            aftermath.onAlive(cell);
        }
        if (now == Condition.UP) {
            onChange.run();
        }
    }

    private void tell(EndpointCell cell, Condition before, Verdict verdict) {
        Condition now = verdict.condition();
        String why = verdict.finding().detail();
        if (now == Condition.UP) {
            log.info(
                    "endpoint up backend={} endpoint={} before={} why=\"{}\"",
                    cell.backend(),
                    cell.address(),
                    before.word(),
                    why);
        } else {
            log.warn(
                    "endpoint {} backend={} endpoint={} before={} why=\"{}\"",
                    now.word(),
                    cell.backend(),
                    cell.address(),
                    before.word(),
                    why);
        }
        emit("endpoint-" + now.word(), cell, now.word() + ": " + why, Map.of("before", before.word(), "why", why));
    }

    // ---- what is judged

    /** On control's thread. */
    private final class Telling implements Chronicle {
        @Override
        public void onEndpoint(EndpointCell endpoint, Change change, String why) {
            if (change == Change.EJECTED || change == Change.BREAKER_OPEN) {
                log.warn(
                        "{} backend={} endpoint={} why=\"{}\"",
                        change.word(),
                        endpoint.backend(),
                        endpoint.address(),
                        why);
                onTrouble.accept(endpoint);
            } else {
                log.info(
                        "{} backend={} endpoint={} why=\"{}\"",
                        change.word(),
                        endpoint.backend(),
                        endpoint.address(),
                        why);
                onChange.run();
            }
            emit(change.word(), endpoint, why, Map.of("why", why));
        }

        @Override
        public void onPanic(String backend, boolean panic, int fit, int counted) {
            String type = panic ? "panic-started" : "panic-ended";
            log.warn("{} backend={} fit={} of={}", type, backend, fit, counted);
            events.emit(
                    type,
                    "backends/" + backend + ": " + fit + " of " + counted + " endpoints are fit",
                    Map.of("target", "backends/" + backend, "fit", fit, "of", counted));
        }
    }

    private void emit(String type, EndpointCell endpoint, String what, Map<String, Object> more) {
        String target = "backends/" + endpoint.backend() + "/endpoints/" + endpoint.address();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("target", target);
        fields.putAll(more);
        events.emit(type, target + ": " + what, fields);
    }

    // ---- control's thread

    /** Has control do it, and look again as long as time brings something. Any thread. */
    private void post(Runnable step) {
        try {
            control.execute(() -> {
                guarded(step);
                keepTicking();
            });
        } catch (RejectedExecutionException over) {
            log.debug("nothing to judge: the proxy has stopped");
        }
    }

    private void keepTicking() {
        if (!ticking && !closed) {
            ticking = true;
            tick();
        }
    }

    private void tick() {
        boolean[] again = {true};
        guarded(() -> again[0] = judge.tick());
        ticking = again[0] && !closed;
        if (ticking) {
            control.schedule(this::tick, TICK_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** A fault would vanish in the task's future, and endpoints stay as they are for ever: it is told, and it goes on. */
    private static void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable fault) {
            log.error("a look at endpoints failed by a fault of our own, the next goes on", fault);
        }
    }
}
