package dev.tidegate.control;

import dev.tidegate.admission.Admission;
import dev.tidegate.admission.ConnectionLimit;
import dev.tidegate.config.Config;
import dev.tidegate.config.ShutdownConfig;
import dev.tidegate.connection.ConnectionContext;
import dev.tidegate.connection.ConnectionFactory;
import dev.tidegate.dial.Dialer;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.Listeners;
import dev.tidegate.listener.Transport;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Snapshot;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.ReloadCounts;
import dev.tidegate.telemetry.WorkerCounters;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import io.netty.channel.ChannelException;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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

    /** How long a loop goes on after its last task, and how long at most. */
    private static final long LAST_COMPLETIONS_MILLIS = 50;

    private static final long LOOP_STOP_MILLIS = 1_000;

    /** A stop looks this often whether the last connection has gone. */
    private static final Duration LOOK = Duration.ofMillis(10);
    /** How often endpoints that a reload took away are looked at. */
    private static final long SWEEP_MILLIS = 1_000;
    /**
     * How much later than its deadline a stop may end: a connection that ended quietly just before it still waits for its
     * client to read the last bytes, which the last call would cut off.
     */
    private static final Duration STOP_MARGIN = Duration.ofMillis(2_500);

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
     */
    public record Parts(
            Transport transport,
            int workers,
            int maxConnections,
            Ticker ticker,
            long seed,
            FloodLog floods,
            Consumer<AccessRecord> accessLog,
            DnsServerAddressStreamProvider nameServers) {}

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
    private final ScheduledThreadPoolExecutor control;
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private final Reloader reloader;
    private final Set<CompletableFuture<ReloadResult>> reloadsAsked = ConcurrentHashMap.newKeySet();
    private boolean sweeping; // control's thread
    private volatile Phase phase = Phase.STARTING; // writer: control

    private Proxy(Config config, Parts parts) {
        this.parts = parts;
        this.limit = new ConnectionLimit(parts.maxConnections());
        this.control = new ScheduledThreadPoolExecutor(1, new DefaultThreadFactory("tidegate-control", false));
        this.control.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        SnapshotBuilder builder = new SnapshotBuilder(cells, parts.maxConnections());
        this.inForce = new InForce(config, builder.build(1, config));
        try {
            makeWorkers(new Admission(limit));
        } catch (RuntimeException failed) {
            endWorkers();
            throw failed;
        }
        this.listeners = new Listeners(parts.transport(), factories, this::onAcceptFailed);
        this.reloader = new Reloader(inForce, cells, builder, listeners, workers, parts);
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

    private Worker newWorker(int index) {
        RandomGenerator random =
                RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(parts.seed() + index);
        DefaultThreadFactory threads = new DefaultThreadFactory("tidegate-worker-" + index, true);
        return new Worker(
                index,
                parts.ticker(),
                random,
                parts.transport().ioHandlers(),
                handlers -> new SingleThreadIoEventLoop(null, threads, handlers));
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
     * Listens from now on. Once only, by the thread that prepared it.
     *
     * @throws IOException when an address cannot be listened on; then it listens on none. Its message is for the operator
     */
    public void listen() throws IOException {
        try {
            reloader.begin();
        } catch (RuntimeException failed) {
            throw cannotStart(failed);
        }
        phase = Phase.RUNNING;
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
    private static IOException cannotStart(RuntimeException failed) {
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
        return phase;
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

    /**
     * Puts another configuration in force while connections go on: all of it or, when an address cannot be had, nothing.
     * What needs a restart stays as it is and is told of. Connections of removed endpoints ({@code endpoint-removed}) and
     * of removed frontends ({@code drain}) are retired, their starts spread over 10 s, their hard limits after 5 min; those
     * on endpoints that stay, by backend and address, are not touched. Carried out one at a time.
     *
     * @return how it came out; rejected also when the proxy is stopping. Never completes exceptionally
     */
    public CompletableFuture<ReloadResult> reload(Config wanted) {
        CompletableFuture<ReloadResult> answer = new CompletableFuture<>();
        reloadsAsked.add(answer);
        try {
            control.execute(() -> {
                answer.complete(reloadNow(wanted));
                reloadsAsked.removeIf(CompletableFuture::isDone);
            });
        } catch (RejectedExecutionException stoppedAlready) {
            answer.complete(stopping());
            reloadsAsked.removeIf(CompletableFuture::isDone);
        }
        return answer;
    }

    private ReloadResult stopping() {
        return ReloadResult.rejected(snapshot().generation(), "the process is stopping");
    }

    private ReloadResult reloadNow(Config wanted) {
        ReloadResult result;
        try {
            result = phase == Phase.RUNNING ? reloader.reload(wanted) : stopping();
        } catch (RuntimeException fault) {
            log.error("a reload failed by a fault of our own gen={}", snapshot().generation(), fault);
            result = ReloadResult.rejected(snapshot().generation(), "internal error: " + fault.getMessage());
        }
        reloads.count(result.result());
        sweep();
        return result;
    }

    /** Looks from time to time at the endpoints that were taken away, until the last connection has left them. */
    private void sweep() {
        if (phase != Phase.RUNNING || !reloader.forgetUnused() || sweeping) {
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
     * Begins an orderly stop: not ready from now; listening ends after the lame-duck time; connections are retired, spread
     * over the spread; those left at the deadline are cut, spread over its last part. Once only; a second call changes
     * nothing.
     */
    public void stopGracefully() {
        post(this::beginToStop);
    }

    private void beginToStop() {
        if (phase == Phase.STARTING || phase == Phase.RUNNING) {
            phase = Phase.DRAINING;
            ShutdownConfig how = config().process().shutdown();
            long deadline = parts.ticker().nanoTime() + how.deadline().toNanos();
            log.info(
                    "stopping connections={} deadline={} spread={} lame-duck={}",
                    limit.active(),
                    how.deadline(),
                    how.spread(),
                    how.lameDuck());
            postIn(how.lameDuck(), () -> retireAll(deadline));
        }
    }

    /** Has control do a step of a stop. What is asked for when the stop is over needs no doing. */
    private void post(Runnable step) {
        postIn(Duration.ZERO, step);
    }

    private void postIn(Duration delay, Runnable step) {
        try {
            control.schedule(() -> stopStep(step), delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException stoppedAlready) {
            log.debug("nothing to do: the proxy has stopped");
        }
    }

    /** A fault would vanish in the task's future, and the stop hang without a word: it goes on, the hard way. */
    private void stopStep(Runnable step) {
        try {
            step.run();
        } catch (Throwable fault) {
            log.error("a step of the stop failed, connections are reset now phase={}", phase, fault);
            stopHard();
        }
    }

    private void retireAll(long deadlineNanos) {
        if (phase != Phase.DRAINING) {
            return;
        }
        listeners.close();
        long now = parts.ticker().nanoTime();
        long window = Math.max(0, deadlineNanos - now);
        long spread = Math.min(config().process().shutdown().spread().toNanos(), window);
        long cutSpread = Math.min(spread, window / 5);
        for (Worker worker : workers) {
            worker.loop()
                    .execute(() -> worker.forEachResident(resident -> resident.retire(
                            CloseReason.SHUTDOWN,
                            now + drawn(worker.random(), spread),
                            deadlineNanos - drawn(worker.random(), cutSpread))));
        }
        lookForLast(deadlineNanos + STOP_MARGIN.toNanos());
    }

    private static long drawn(RandomGenerator random, long width) {
        return width <= 0 ? 0 : random.nextLong(width);
    }

    private void lookForLast(long lastCallNanos) {
        if (phase != Phase.DRAINING) {
            return;
        }
        if (workers.stream().mapToInt(Worker::load).sum() == 0) {
            finishStop();
        } else if (parts.ticker().nanoTime() - lastCallNanos >= 0) {
            abortAll();
            finishStop();
        } else {
            postIn(LOOK, () -> lookForLast(lastCallNanos));
        }
    }

    /** Ends everything at once: connections are reset. */
    public void stopNow() {
        post(this::stopHard);
    }

    private void stopHard() {
        if (phase == Phase.STOPPED) {
            return;
        }
        try {
            listeners.close();
            abortAll();
        } catch (Throwable fault) {
            log.error("connections could not be reset, the process ends without", fault);
        } finally {
            finishStop();
        }
    }

    private void abortAll() {
        int busy = Loops.tryRun(workers, worker -> worker.forEachResident(Proxy::abort), Loops.PATIENCE);
        if (busy > 0) {
            log.error("workers are stuck in what they do, their connections end with the process workers={}", busy);
        }
    }

    private static void abort(Resident resident) {
        resident.abort(CloseReason.SHUTDOWN);
    }

    private void finishStop() {
        boolean listened = phase != Phase.STARTING;
        phase = Phase.STOPPED;
        try {
            if (listened) {
                log.info("stopped cut={}", cut());
            }
            reloader.close();
            endWorkers();
        } catch (Throwable fault) {
            log.error("the stop left something behind", fault);
        } finally {
            stopped.complete(null);
            control.shutdown();
            // Their tasks are not run any more.
            reloadsAsked.forEach(answer -> answer.complete(stopping()));
        }
    }

    private long cut() {
        long cut = 0;
        for (WorkerCounters counters : counters()) {
            for (FrontendCell frontend : cells.allFrontends()) {
                var row = counters.readFrontend(frontend.slot());
                cut += row == null ? 0 : row.retired(CloseReason.SHUTDOWN, RetireHow.CUT);
            }
        }
        return cut;
    }

    private void endWorkers() {
        List<Future<?>> ends = new ArrayList<>();
        for (Worker worker : workers) {
            // io_uring closes a socket by completions that its loop is still to see.
            ends.add(
                    worker.loop().shutdownGracefully(LAST_COMPLETIONS_MILLIS, LOOP_STOP_MILLIS, TimeUnit.MILLISECONDS));
        }
        int busy = Loops.awaitAll(ends, Loops.PATIENCE);
        if (busy > 0) {
            log.error("workers did not end workers={} waited={}", busy, Loops.PATIENCE);
        }
    }

    /** Stops now and waits for it. */
    @Override
    public void close() {
        stopNow();
        stopped.join();
    }
}
