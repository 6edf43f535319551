package dev.tidegate.control;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admission.Admission;
import dev.tidegate.admission.ConnectionLimit;
import dev.tidegate.config.Config;
import dev.tidegate.connection.ConnectionContext;
import dev.tidegate.connection.ConnectionFactory;
import dev.tidegate.dial.Dialer;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.InheritedSockets;
import dev.tidegate.listener.Listeners;
import dev.tidegate.listener.Transport;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.Snapshot;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.ReloadCounts;
import dev.tidegate.telemetry.WorkerCounters;
import dev.tidegate.worker.Worker;
import io.netty.channel.ChannelException;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running balancer: workers, listeners and the snapshot they follow. The single writer of all of it.
 *
 * <p>Methods may be called by any thread; what changes anything is carried out on control's own thread,
 * {@code tidegate-control}.
 */
public final class Proxy implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Proxy.class);

    /** How often operations, and endpoints that were taken away, are looked at. */
    private static final long SWEEP_MILLIS = 250;

    private static final String GIVING_AWAY =
            "another process is taking over, and has read what is in force; ask again in a moment";

    private static final Outcome UNAVAILABLE =
            new Outcome.Refused(Outcome.Why.UNAVAILABLE, "the process is starting or stopping", List.of());

    /**
     * What a proxy is made of, besides its configuration.
     *
     * @param transport does the I/O of all workers
     * @param workers how many, 1 or more
     * @param maxConnections the most connections at a time
     * @param ticker monotonic time
     * @param seed of all chance; worker N draws from seed + N
     * @param floods sums what can happen at any rate
     * @param accessLog takes the record of each ended connection; never blocks
     * @param nameServers whom to ask for endpoints configured by name
     * @param clock the time of day, for operators
     * @param runtime what operators had changed when the process last ran
     * @param stateSaver keeps what they change over a restart; completes with why it could not
     * @param inherited listening sockets that are open already, as far as frontends may have them
     * @param threads what it runs on
     */
    public record Parts(
            Transport transport,
            int workers,
            int maxConnections,
            Ticker ticker,
            long seed,
            FloodLog floods,
            Consumer<AccessRecord> accessLog,
            DnsServerAddressStreamProvider nameServers,
            InstantSource clock,
            RuntimeState runtime,
            Function<RuntimeState, CompletableFuture<Optional<String>>> stateSaver,
            InheritedSockets inherited,
            Threads threads) {
        /** Parts of a proxy that runs on threads of its own. */
        public Parts(
                Transport transport,
                int workers,
                int maxConnections,
                Ticker ticker,
                long seed,
                FloodLog floods,
                Consumer<AccessRecord> accessLog,
                DnsServerAddressStreamProvider nameServers,
                InstantSource clock,
                RuntimeState runtime,
                Function<RuntimeState, CompletableFuture<Optional<String>>> stateSaver,
                InheritedSockets inherited) {
            this(
                    transport,
                    workers,
                    maxConnections,
                    ticker,
                    seed,
                    floods,
                    accessLog,
                    nameServers,
                    clock,
                    runtime,
                    stateSaver,
                    inherited,
                    Threads.OWN);
        }

        /** Parts of a proxy that remembers nothing of an earlier run, and leaves nothing to a later one. */
        public Parts(
                Transport transport,
                int workers,
                int maxConnections,
                Ticker ticker,
                long seed,
                FloodLog floods,
                Consumer<AccessRecord> accessLog,
                DnsServerAddressStreamProvider nameServers,
                InstantSource clock) {
            this(
                    transport,
                    workers,
                    maxConnections,
                    ticker,
                    seed,
                    floods,
                    accessLog,
                    nameServers,
                    clock,
                    RuntimeState.EMPTY,
                    state -> CompletableFuture.completedFuture(Optional.empty()),
                    InheritedSockets.NONE);
        }
    }

    /** Where the process stands. */
    public enum Phase {
        /** Not yet listening. */
        STARTING,
        /** Accepting connections. */
        RUNNING,
        /** On its way out: no longer ready, though perhaps still accepting. */
        DRAINING,
        /** Over. */
        STOPPED
    }

    private final Parts parts;
    private final InForce inForce;
    private final Cells cells = new Cells();
    private final ReloadCounts reloads = new ReloadCounts();
    private final List<Worker> workers = new ArrayList<>();
    private final List<ConnectionFactory> factories = new ArrayList<>();
    private final ConnectionLimit limit;
    private final Listeners listeners;
    private final ScheduledExecutorService control;
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private final Publisher publisher;
    private final Operations operations;
    private final Drains drains;
    private final Rebalances rebalances;
    private final Reloader reloader;
    private final Commands commands;
    private final Views views;
    private final Events events;
    private final Health health;
    private final Set<Runnable> unanswered = ConcurrentHashMap.newKeySet();
    private boolean sweeping; // control's thread
    private boolean givingAway; // control's thread
    private boolean reloadRefused; // while giving away; control's thread
    private final Set<String> faultyLooks = new HashSet<>(); // control's thread
    private final Stop stop;

    private Proxy(Config config, Parts parts) {
        this.parts = parts;
        this.limit = new ConnectionLimit(parts.maxConnections());
        this.control = parts.threads().control();
        this.events = new Events(parts.clock());
        this.health = new Health(
                parts.ticker(),
                parts.clock(),
                random(-1),
                random(-2),
                events,
                control,
                new WorkersTally(workers),
                parts.threads());
        SnapshotBuilder builder = new SnapshotBuilder(cells, parts.maxConnections(), health.judge(), parts.ticker());
        RuntimeState runtime = parts.runtime().reconcile(config);
        this.inForce = new InForce(config, runtime, builder.build(1, config, runtime));
        try {
            makeWorkers(new Admission(limit));
        } catch (RuntimeException failed) {
            endWorkers();
            throw failed;
        }
        this.listeners = new Listeners(parts.transport(), factories, this::onAcceptFailed, parts.inherited());
        this.publisher = new Publisher(
                inForce,
                cells,
                builder,
                new Leaving(cells, workers),
                listeners,
                parts.nameServers(),
                events,
                this::onNewAddresses,
                health);
        this.operations = new Operations(workers, parts.ticker(), parts.clock(), this::onOperationEnded);
        this.drains = new Drains(operations);
        health.tell(publisher::hurryName, this::rebalanceLater, new WhenDown(inForce, operations));
        this.rebalances = new Rebalances(inForce, operations, events, workers);
        Departures departures = new Departures(operations);
        LevelInForce level = new LevelInForce(config.log().level());
        level.follow(config, runtime);
        this.reloader = new Reloader(inForce, cells, publisher, departures, drains, level, listeners.adoptsSockets());
        this.views = new Views(inForce, drains, operations, listeners, workers, parts.ticker(), health);
        this.stop = new Stop(
                control,
                parts.ticker(),
                workers,
                listeners,
                operations,
                limit,
                () -> config().process().shutdown(),
                cells,
                this::onStopped);
        this.commands =
                new Commands(inForce, publisher, operations, drains, departures, rebalances, level, views, events);
    }

    private void makeWorkers(Admission admission) {
        for (int i = 0; i < parts.workers(); i++) {
            Worker worker = newWorker(i);
            workers.add(worker);
            Dialer dialer = new Dialer(
                    worker.loop(),
                    worker.deadlines(),
                    parts.ticker(),
                    worker.random(),
                    worker.counters(),
                    parts.transport());
            ConnectionContext context = new ConnectionContext(
                    worker, dialer, parts.transport(), admission, parts.floods(), parts.accessLog());
            factories.add(new ConnectionFactory(context, inForce::snapshot));
        }
    }

    private RandomGenerator random(int index) {
        return RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(parts.seed() + index);
    }

    private Worker newWorker(int index) {
        return new Worker(
                index,
                parts.ticker(),
                random(index),
                parts.transport().ioHandlers(),
                handlers -> parts.threads().worker(index, handlers));
    }

    /**
     * Makes a proxy that does not listen yet. It is to be closed, whether it comes to listen or not.
     *
     * @throws IOException when the system gives no event loops; nothing is left running. Its message is for the operator
     */
    public static Proxy prepare(Config config, Parts parts) throws IOException {
        try {
            return new Proxy(config, parts);
        } catch (RuntimeException failed) {
            throw cannotStart(failed);
        }
    }

    /**
     * Has its sockets from now on, and begins to know its endpoints; accepts nobody: who connects waits in the kernel's
     * queue. Once only, by the thread that prepared it.
     *
     * @throws IOException when an address cannot be listened on; then it listens on none. Its message is for the operator
     */
    public void bind() throws IOException {
        carryOut(publisher::begin);
    }

    /**
     * Accepts from now on. Once only, by the thread that {@link #bind bound}.
     *
     * @throws IOException when it cannot, or is to stop already. Its message is for the operator
     */
    public void accept() throws IOException {
        carryOut(() -> {
            if (phase() != Phase.STARTING) {
                throw new IOException("it was stopped before it accepted");
            }
            publisher.accept();
            stop.listening();
        });
        rebalanceLater();
    }

    /**
     * {@linkplain #bind Binds} and {@linkplain #accept accepts}.
     *
     * @throws IOException as they do
     */
    public void listen() throws IOException {
        bind();
        accept();
    }

    private interface Step {
        void run() throws IOException;
    }

    /** On control's thread: what the first answer of a name server changes comes there, too, perhaps at once. */
    private void carryOut(Step step) throws IOException {
        Future<?> begun = control.submit(() -> {
            step.run();
            return null;
        });
        try {
            begun.get();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof IOException cannot ? cannot : cannotStart(failed);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while it began to listen");
        }
    }

    /** An endpoint may have come to take connections: control looks. Any thread. */
    private void rebalanceLater() {
        var unused = ask(this::rebalanceNow, () -> null); // it tells itself of a fault
    }

    /** A name has other addresses. Any thread. */
    private void onNewAddresses() {
        var unused = ask(this::followAddresses, () -> null); // it tells itself of a fault
    }

    private Void followAddresses() {
        health.followAddresses(snapshot());
        return rebalanceNow();
    }

    /**
     * Is done when every endpoint that is checked from the start on has been checked once, and what was found is in force;
     * so from the first when none is checked. Fails when the proxy ends before. Any thread; completed on control's thread,
     * which must not be held up.
     */
    public CompletableFuture<Void> firstChecks() {
        return health.firstRound();
    }

    /**
     * Is done when every name that an endpoint had at the start has been asked for once, whatever came of it, and the first
     * checks of those with an address are over. Fails when the proxy ends before. Any thread; completed on control's, which
     * must not be held up.
     */
    public CompletableFuture<Void> endpointsKnown() {
        return health.known();
    }

    /** Whether the first checks are done. */
    public boolean firstChecksOver() {
        return health.firstRoundOver();
    }

    private Void rebalanceNow() {
        if (phase() == Phase.RUNNING) {
            rebalances.follow();
            sweep();
        }
        return null;
    }

    /**
     * Starts a proxy: it listens when this returns.
     *
     * @throws IOException when it cannot; nothing is left running. Its message is for the operator
     */
    public static Proxy start(Config config, Parts parts) throws IOException {
        Proxy proxy = prepare(config, parts);
        try {
            proxy.listen();
        } catch (IOException failed) {
            proxy.close();
            throw failed;
        }
        return proxy;
    }

    /** The innermost cause is what the system said; around it are the words of whoever passed it on. */
    private static IOException cannotStart(Exception failed) {
        log.debug("the start failed", failed);
        Throwable cause = failed;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        // Netty speaks of a ring that cannot be had in one of no class of its own.
        boolean plain = cause instanceof IOException
                || cause instanceof ChannelException
                || cause.getClass().equals(RuntimeException.class);
        return new IOException("cannot start: " + (plain ? cause.getMessage() : cause), failed);
    }

    private void onAcceptFailed(String listener, Throwable cause, long pauseMillis) {
        parts.floods().count(FloodLog.Kind.ACCEPT_FAILED, listener, cause);
    }

    /** The snapshot that new connections follow. */
    public Snapshot snapshot() {
        return inForce.snapshot();
    }

    /**
     * The frontends that listen, or are about to, and have nobody to give a connection to, but perhaps soon: the name of an
     * endpoint has not been asked for yet, or one has not been checked yet, or passes its checks and not often enough so far.
     */
    public List<String> awaitingCandidate() {
        Set<String> draining = runtime().drainingFrontends();
        return snapshot().frontends().stream()
                .filter(frontend -> !draining.contains(frontend.name())
                        && !frontend.backend().hasCandidate()
                        && frontend.backend().endpoints().all().stream().anyMatch(health::promises))
                .map(Frontend::name)
                .toList();
    }

    /** The configuration in force: of what a reload asked for and needs a restart, the value that still holds. */
    public Config config() {
        return inForce.config();
    }

    /** How reloads came out. */
    public ReloadCounts reloads() {
        return reloads;
    }

    /** Where the process stands. */
    public Phase phase() {
        return stop.phase();
    }

    /** What each worker counts. */
    public List<WorkerCounters> counters() {
        return workers.stream().map(Worker::counters).toList();
    }

    /** The limit on connections, and how many there are. */
    public ConnectionLimit connections() {
        return limit;
    }

    /** Where each listener is bound: the configured form, and the address with its real port. */
    public Map<String, InetSocketAddress> listeningOn() {
        Map<String, InetSocketAddress> addresses = new LinkedHashMap<>();
        listeners.addresses().forEach((spec, bound) -> addresses.put(spec.frontend() + " " + spec.name(), bound));
        return addresses;
    }

    /** Each listener as it is configured, and the address that it is bound to. */
    public Map<Listeners.Spec, InetSocketAddress> listeners() {
        return listeners.addresses();
    }

    /** Deadlines armed on all workers: for tests and for {@code status}. Waits for each worker's loop. */
    public int armedDeadlines() {
        return Loops.ask(workers, worker -> worker.deadlines().size()).stream()
                .mapToInt(Integer::intValue)
                .sum();
    }

    /** Completes when the proxy has stopped. */
    public CompletableFuture<Void> stopped() {
        return stopped;
    }

    /** Completes when a stop begins, in order or at once, on control's thread. */
    public CompletableFuture<StopTimes> stopBegun() {
        return stop.begun();
    }

    /**
     * Asks control's thread and all workers for a sign of life.
     *
     * @param whenAll called once all have given one, by the last of them; must not wait
     */
    public RollCall callRoll(Runnable whenAll) {
        Map<String, Executor> loops = new LinkedHashMap<>();
        if (phase() != Phase.STOPPED) { // then they end, and nobody is to wonder
            loops.put("control", control);
            workers.forEach(worker -> loops.put(worker.toString(), worker.loop()));
        }
        return RollCall.begin(loops, whenAll);
    }

    /**
     * Puts another configuration in force while connections go on: all of it or, when an address cannot be had, nothing.
     * What needs a restart stays as it is and is told of. Connections of removed endpoints ({@code endpoint-removed}) and
     * of removed frontends ({@code drain}) are retired, their starts spread over 10 s, their hard limits after 5 min; those
     * on endpoints that stay, by backend and address, are not touched. Carried out one at a time.
     *
     * @return how it came out; rejected also when the proxy is stopping. Never completes exceptionally
     */
    public CompletableFuture<ReloadResult> reload(Config wanted) {
        return reload(wanted, OptionalLong.empty());
    }

    /**
     * The same, if the generation is the one that its asker has seen. That is looked at when it is carried out: nothing can
     * come between.
     *
     * @param ifGeneration empty: whichever it is
     * @return as above; {@link ReloadResult#stale} when it is another one
     */
    CompletableFuture<ReloadResult> reload(Config wanted, OptionalLong ifGeneration) {
        return ask(
                () -> {
                    long generation = snapshot().generation();
                    return ifGeneration.isPresent() && ifGeneration.getAsLong() != generation
                            ? ReloadResult.stale(generation, ifGeneration.getAsLong())
                            : reloadNow(wanted);
                },
                this::stopping);
    }

    /**
     * What a reload would change. Changes nothing.
     *
     * @return how it would come out; never completes exceptionally
     */
    public CompletableFuture<ReloadResult> dryRun(Config wanted) {
        return ask(() -> reloader.dryRun(wanted), this::stopping);
    }

    /**
     * Carries an operator's write out: whole, or not at all. All but the reload of a file.
     *
     * @return how it came out, once what a restart is to find is kept; completes exceptionally only for a fault of our own
     */
    public CompletableFuture<Outcome> execute(Command command, WriteContext context) {
        CompletableFuture<Outcome> done = ask(() -> executeNow(command, context), () -> UNAVAILABLE);
        return done.thenCompose(outcome -> outcome instanceof Outcome.Refused || outcome instanceof Outcome.Compared
                ? CompletableFuture.completedFuture(outcome)
                : parts.stateSaver().apply(inForce.runtime()).thenApply(failure -> outcome));
    }

    private Outcome executeNow(Command command, WriteContext context) {
        if (phase() != Phase.RUNNING) {
            return UNAVAILABLE;
        }
        if (givingAway) {
            return new Outcome.Refused(Outcome.Why.UNAVAILABLE, GIVING_AWAY, List.of());
        }
        Outcome outcome = commands.run(command, context);
        rebalanceNow();
        return outcome;
    }

    /** Has control answer; once the proxy has stopped, or stops before its turn, the answer is the other one. */
    private <T> CompletableFuture<T> ask(Supplier<T> question, Supplier<T> otherwise) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        Runnable giveUp = () -> answer.complete(otherwise.get());
        unanswered.add(giveUp);
        try {
            control.execute(() -> {
                try {
                    answer.complete(question.get());
                } catch (RuntimeException fault) {
                    log.error(
                            "control failed by a fault of our own gen={}",
                            snapshot().generation(),
                            fault);
                    answer.completeExceptionally(fault);
                } finally {
                    unanswered.remove(giveUp);
                }
            });
        } catch (RejectedExecutionException stoppedAlready) {
            giveUp.run();
            unanswered.remove(giveUp);
        }
        return answer;
    }

    private void onOperationEnded(Operation operation) {
        String word = operation.state() == Operation.State.DONE ? "done" : "cancelled";
        Map<String, Object> fields = new LinkedHashMap<>(Commands.fields(operation));
        fields.put("retired", operation.order().retired());
        fields.put("cut", operation.order().cut());
        log.info(
                "operation {} id={} kind={} target={} retired={} cut={}",
                word,
                operation.id(),
                operation.kind().word(),
                operation.target(),
                operation.order().retired(),
                operation.order().cut());
        events.emit("operation-" + word, operation.kind().word() + " of " + operation.target() + " " + word, fields);
    }

    /** The proxy as the admin API shows it. */
    Views views() {
        return views;
    }

    /** Operations under way, and the last ones that ended; the newest first. */
    public CompletableFuture<List<OperationView>> operations() {
        return views.operations();
    }

    /** What has happened lately, and what happens. */
    public Events events() {
        return events;
    }

    /** Whether an operator drains the whole process: it serves on, but is not ready. */
    public boolean drained() {
        return drains.process();
    }

    /** What operators have changed, beside the configuration. */
    public RuntimeState runtime() {
        return inForce.runtime();
    }

    private ReloadResult stopping() {
        return ReloadResult.rejected(snapshot().generation(), "the process is stopping");
    }

    private ReloadResult reloadNow(Config wanted) {
        ReloadResult result;
        try {
            if (phase() != Phase.RUNNING) {
                result = stopping();
            } else if (givingAway) {
                reloadRefused = true;
                result = ReloadResult.rejected(snapshot().generation(), GIVING_AWAY);
            } else {
                result = reloader.reload(wanted);
            }
        } catch (RuntimeException fault) {
            log.error("a reload failed by a fault of our own gen={}", snapshot().generation(), fault);
            result = ReloadResult.rejected(snapshot().generation(), "internal error: " + fault.getMessage());
        }
        reloads.count(result.result());
        if (result.result() == ReloadCounts.Result.APPLIED) {
            var unused = parts.stateSaver().apply(inForce.runtime()); // it tells itself of what it cannot keep
        }
        events.emit(
                "reload-" + result.result().word(),
                "reload " + result.result().word() + (result.reason().isEmpty() ? "" : ": " + result.reason()),
                Map.of(
                        "generation",
                        result.generation(),
                        "changes",
                        result.diff().changes().size()));
        rebalanceNow();
        return result;
    }

    /** Looks from time to time at operations and at endpoints that were taken away, until the last has come to its end. */
    private void sweep() {
        if (phase() != Phase.RUNNING || !lookAround() || sweeping) {
            return;
        }
        sweeping = true;
        control.schedule(
                () -> {
                    sweeping = false;
                    sweep();
                },
                SWEEP_MILLIS,
                TimeUnit.MILLISECONDS);
    }

    /**
     * One look. A fault would vanish in the task's future, and no operation come to its end any more: it is told, the first
     * of a row, and the next look goes on.
     *
     * @return whether to look again
     */
    private boolean lookAround() {
        boolean running = tryLook("operations", operations::settle);
        boolean leaving = tryLook("endpoints that were taken away", publisher::forgetUnused);
        return running || leaving;
    }

    private boolean tryLook(String what, BooleanSupplier look) {
        try {
            boolean again = look.getAsBoolean();
            faultyLooks.remove(what);
            return again;
        } catch (Throwable fault) {
            if (faultyLooks.add(what)) {
                log.error(
                        "a look at {} failed by a fault of our own, tried again gen={}",
                        what,
                        snapshot().generation(),
                        fault);
            }
            return true;
        }
    }

    /**
     * Begins an orderly stop: not ready from now; listening ends after the lame-duck time; connections are retired, spread
     * over the spread; those left at the deadline are cut, spread over its last part. Once only; a second call changes
     * nothing.
     */
    public void stopGracefully() {
        stop.begin();
    }

    /**
     * Prepares that another process takes over: what operators changed is written, and until {@link #goOn} or
     * {@link #handOver} nothing changes any more, by admin or reload.
     *
     * @return all listening sockets, parked ones too; empty when this process cannot give them away, because it is starting
     *     or stopping, or its transport has none to give
     */
    public CompletableFuture<Optional<List<InheritedSockets.Descriptor>>> giveAway() {
        CompletableFuture<Boolean> frozen = ask(
                () -> {
                    givingAway = phase() == Phase.RUNNING && listeners.adoptsSockets();
                    return givingAway;
                },
                () -> false);
        return frozen.thenCompose(yes -> yes
                ? parts.stateSaver()
                        .apply(inForce.runtime())
                        .thenCompose(failure -> ask(() -> Optional.of(listeners.descriptors()), Optional::empty))
                : CompletableFuture.completedFuture(Optional.empty()));
    }

    /** Whether its transport has sockets that another process can take. */
    public boolean handsOver() {
        return listeners.adoptsSockets();
    }

    /**
     * Nobody took over after {@link #giveAway}: changes are possible again.
     *
     * @return whether a reload was refused meanwhile
     */
    public CompletableFuture<Boolean> goOn() {
        return ask(
                () -> {
                    boolean refused = reloadRefused;
                    givingAway = false;
                    reloadRefused = false;
                    return refused;
                },
                () -> false);
    }

    /**
     * Another process has the listening sockets and is ready: decides whether this one gives way. If so a stop has begun,
     * though this one still accepts until {@link #handOver}, which must follow.
     *
     * @return false when it is to stop already, or does not run: then it goes on with that. Completed on control's thread
     */
    public CompletableFuture<Boolean> giveWay() {
        return ask(stop::tryGiveWay, () -> false);
    }

    /**
     * This one, which has given way, accepts no more, from when this completes, and stops gracefully, without lame duck.
     */
    public CompletableFuture<Void> handOver() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        stop.handOver(() -> closed.complete(null));
        var unused = stopped.thenRun(() -> closed.complete(null)); // its steps are not carried out any more
        return closed;
    }

    /** Ends everything at once: connections are reset. */
    public void stopNow() {
        stop.now();
    }

    /** What is left when the last connection has gone. Control's thread. */
    private void onStopped() {
        try {
            publisher.close();
            health.close();
            endWorkers();
        } finally {
            stopped.complete(null);
            control.shutdown();
            // Their tasks are not run any more.
            unanswered.forEach(Runnable::run);
        }
    }

    private void endWorkers() {
        int busy = parts.threads()
                .end(
                        workers.stream().map(Worker::loop).toList(),
                        parts.transport().lastCompletionsMillis());
        if (busy > 0) {
            log.error("workers did not end workers={} waited={}", busy, Threads.END_PATIENCE);
        }
    }

    /** Stops now and waits for it. */
    @Override
    public void close() {
        stopNow();
        stopped.join();
    }
}
