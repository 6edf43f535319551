package dev.tidegate.control;

import dev.tidegate.admission.Admission;
import dev.tidegate.admission.ConnectionLimit;
import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.config.ListenAddress;
import dev.tidegate.connection.ConnectionContext;
import dev.tidegate.connection.ConnectionFactory;
import dev.tidegate.dial.Dialer;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.Listeners;
import dev.tidegate.listener.Transport;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Snapshot;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.WorkerCounters;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
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

    /** A stop looks this often whether the last connection has gone. */
    private static final long LOOK_MILLIS = 10;
    /** How much later than its deadline a stop may end, for resets to be sent and the log to be written. */
    private static final Duration STOP_MARGIN = Duration.ofMillis(500);

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
    private final Config config;
    private final List<Worker> workers = new ArrayList<>();
    private final List<ConnectionFactory> factories = new ArrayList<>();
    private final ConnectionLimit limit;
    private final Listeners listeners;
    private final ScheduledExecutorService control;
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private final NameWatch names;
    private volatile Snapshot snapshot; // writer: control
    private volatile Phase phase = Phase.STARTING; // writer: control

    private Proxy(Config config, Parts parts) {
        this.config = config;
        this.parts = parts;
        this.limit = new ConnectionLimit(parts.maxConnections());
        this.control = Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("tidegate-control", false));
        this.snapshot = new SnapshotBuilder(new Cells(), parts.maxConnections()).build(1, config);
        Admission admission = new Admission(limit);
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
            factories.add(new ConnectionFactory(context, this::snapshot));
        }
        this.listeners = new Listeners(parts.transport(), factories, this::onAcceptFailed);
        this.names = watchNames();
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
     * Starts a proxy: it listens when this returns.
     *
     * @throws IOException when an address cannot be listened on; nothing is left running
     */
    public static Proxy start(Config config, Parts parts) throws IOException {
        Proxy proxy = new Proxy(config, parts);
        try {
            proxy.listeners.bind(proxy.listenerSpecs());
        } catch (IOException failed) {
            proxy.shutDownThreads();
            throw failed;
        }
        proxy.phase = Phase.RUNNING;
        return proxy;
    }

    private List<Listeners.Spec> listenerSpecs() {
        List<Listeners.Spec> specs = new ArrayList<>();
        for (FrontendConfig frontend : config.frontends()) {
            int unackedMillis = snapshot.frontend(frontend.name()).timeouts().unackedMillis();
            for (ListenAddress address : frontend.listen()) {
                if (!(address instanceof ListenAddress.Tcp tcp)) {
                    throw new IllegalArgumentException("frontend \"" + frontend.name() + "\": " + address
                            + " is not a TCP address; the configuration's reader lets none through");
                }
                specs.add(new Listeners.Spec(
                        frontend.name(), new InetSocketAddress(tcp.host(), tcp.port()), tcp.toString(), unackedMillis));
            }
        }
        return specs;
    }

    private void onAcceptFailed(String listener, Throwable cause, long pauseMillis) {
        parts.floods().count(FloodLog.Kind.ACCEPT_FAILED, listener, cause);
    }

    private NameWatch watchNames() {
        NameWatch watch = null;
        for (BackendConfig backend : config.backends()) {
            for (EndpointConfig endpoint : backend.endpoints()) {
                if (!endpoint.address().literal()) {
                    if (watch == null) {
                        watch = new NameWatch(parts.nameServers());
                    }
                    watch.watch(
                            cellOf(backend.name(), endpoint.name()),
                            endpoint.address().host(),
                            endpoint.address().port());
                }
            }
        }
        return watch;
    }

    private dev.tidegate.model.EndpointCell cellOf(String backend, String endpoint) {
        return snapshot.backends().stream()
                .filter(candidate -> candidate.name().equals(backend))
                .flatMap(candidate -> candidate.endpoints().all().stream())
                .filter(candidate -> candidate.name().equals(endpoint))
                .findFirst()
                .orElseThrow()
                .cell();
    }

    /** The snapshot that new connections follow. */
    public Snapshot snapshot() {
        return snapshot;
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

    /** Deadlines armed on all workers: for tests and for {@code status}. Waits for each worker's loop. */
    public int armedDeadlines() {
        return workers.stream()
                .mapToInt(worker -> worker.loop()
                        .submit(() -> worker.deadlines().size())
                        .awaitUninterruptibly()
                        .getNow())
                .sum();
    }

    /** Completes when the proxy has stopped. */
    public CompletableFuture<Void> stopped() {
        return stopped;
    }

    /**
     * Begins an orderly stop: not ready from now; listening ends after the lame-duck time; connections are retired, spread
     * over the spread; those left at the deadline are cut, spread over its last part. Once only; a second call changes
     * nothing.
     */
    public void stopGracefully() {
        control.execute(() -> {
            if (phase == Phase.STARTING || phase == Phase.RUNNING) {
                phase = Phase.DRAINING;
                long lameDuck = config.process().shutdown().lameDuck().toNanos();
                long deadline = parts.ticker().nanoTime()
                        + config.process().shutdown().deadline().toNanos();
                log.info(
                        "stopping connections={} deadline={} spread={} lame-duck={}",
                        limit.active(),
                        config.process().shutdown().deadline(),
                        config.process().shutdown().spread(),
                        config.process().shutdown().lameDuck());
                control.schedule(() -> retireAll(deadline), lameDuck, TimeUnit.NANOSECONDS);
            }
        });
    }

    private void retireAll(long deadlineNanos) {
        if (phase != Phase.DRAINING) {
            return;
        }
        listeners.close();
        long now = parts.ticker().nanoTime();
        long window = Math.max(0, deadlineNanos - now);
        long spread = Math.min(config.process().shutdown().spread().toNanos(), window);
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
            control.schedule(() -> lookForLast(lastCallNanos), LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Ends everything at once: connections are reset. */
    public void stopNow() {
        control.execute(() -> {
            if (phase != Phase.STOPPED) {
                listeners.close();
                abortAll();
                finishStop();
            }
        });
    }

    private void abortAll() {
        List<io.netty.util.concurrent.Future<?>> done = new ArrayList<>();
        for (Worker worker : workers) {
            done.add(worker.loop().submit(() -> worker.forEachResident(Proxy::abort)));
        }
        done.forEach(io.netty.util.concurrent.Future::awaitUninterruptibly);
    }

    private static void abort(Resident resident) {
        resident.abort(CloseReason.SHUTDOWN);
    }

    private void finishStop() {
        phase = Phase.STOPPED;
        long cut = 0;
        for (WorkerCounters counters : counters()) {
            for (var frontend : snapshot.frontends()) {
                var row = counters.readFrontend(frontend.cell().slot());
                cut += row == null ? 0 : row.retired(CloseReason.SHUTDOWN, dev.tidegate.model.RetireHow.CUT);
            }
        }
        log.info("stopped cut={}", cut);
        shutDownThreads();
        stopped.complete(null);
    }

    private void shutDownThreads() {
        if (names != null) {
            names.close();
        }
        workers.forEach(worker -> worker.loop().shutdownGracefully(0, 1, TimeUnit.SECONDS));
        workers.forEach(worker -> worker.loop().terminationFuture().awaitUninterruptibly());
        control.shutdown();
    }

    /** Stops now and waits for it. */
    @Override
    public void close() {
        if (!stopped.isDone()) {
            stopNow();
            stopped.join();
        }
    }
}
