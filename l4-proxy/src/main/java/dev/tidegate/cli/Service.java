package dev.tidegate.cli;

import dev.tidegate.admin.AdminAddress;
import dev.tidegate.admin.AdminServer;
import dev.tidegate.admin.AdminSettings;
import dev.tidegate.admin.AdminTls;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.config.AccessLogConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.ProcessConfig;
import dev.tidegate.control.FdLimit;
import dev.tidegate.control.FileReloads;
import dev.tidegate.control.ProcessInfo;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.ProxyAdmin;
import dev.tidegate.control.RuntimeState;
import dev.tidegate.control.StateDirectory;
import dev.tidegate.control.StateStore;
import dev.tidegate.control.StopTimes;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.telemetry.AccessLog;
import dev.tidegate.telemetry.AccessLogFormat;
import dev.tidegate.telemetry.AccessLogTarget;
import dev.tidegate.telemetry.AddressText;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.LogLevels;
import dev.tidegate.telemetry.Metrics;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A running process: the proxy with its logs and its admin API, wired together. Real time and real chance enter here.
 *
 * <p>Any thread.
 */
final class Service {
    private static final Logger log = LoggerFactory.getLogger(Service.class);

    /** Fewer connections than nearly anybody has in mind who runs a balancer. */
    private static final int FEW = 100;

    private final AccessLog accessLog;
    private final Proxy proxy;
    private final AdminServer admin;
    private final TransportChoice choice;
    private final Optional<FileReloads> reloads;
    private final HandOver handOver;
    private final Deque<Runnable> ends;
    private final Optional<ProcessHandle> before;
    private final CompletableFuture<Void> hurried = new CompletableFuture<>();
    private final AtomicInteger terms = new AtomicInteger();

    private Service(
            AccessLog accessLog,
            Proxy proxy,
            AdminServer admin,
            TransportChoice choice,
            Optional<FileReloads> reloads,
            HandOver handOver,
            Optional<ProcessHandle> before,
            Deque<Runnable> ends) {
        this.before = before;
        this.handOver = handOver;
        this.accessLog = accessLog;
        this.proxy = proxy;
        this.admin = admin;
        this.choice = choice;
        this.reloads = reloads;
        this.ends = ends;
    }

    /**
     * Starts everything, or nothing.
     *
     * @param config what to run
     * @param file where that was read from, for reloads, and a reason to remember over a restart what operators change;
     *     empty: neither
     * @param environment of the process
     * @param warmUp comes before it listens
     * @throws IOException when an address, a file or a descriptor cannot be had; its message is for the operator
     * @throws TransportChoice.UnavailableException when a transport was asked for that cannot be had
     */
    static Service start(Config config, Optional<Path> file, Map<String, String> environment, WarmUp warmUp)
            throws IOException, TransportChoice.UnavailableException {
        return start(config, file, environment, Succession.NONE, warmUp);
    }

    /**
     * Starts everything, or nothing; and takes over from a running process, or not.
     *
     * @param config what to run
     * @param file where that was read from, as above
     * @param environment of the process
     * @param succession who is before it, and after it
     * @param warmUp comes before it listens
     * @throws IOException as above, and when there is nobody to take over from; that one goes on then
     * @throws TransportChoice.UnavailableException when a transport was asked for that cannot be had
     */
    static Service start(
            Config config, Optional<Path> file, Map<String, String> environment, Succession succession, WarmUp warmUp)
            throws IOException, TransportChoice.UnavailableException {
        LogLevels.set(Level.valueOf(config.log().level().name()));
        Deque<Runnable> made = new ArrayDeque<>();
        try {
            Predecessor before = Predecessor.of(succession.takeOver(), config, environment, made);
            TransportChoice choice = TransportChoice.choose(
                    TransportChoice.Wish.valueOf(config.process().transport().name()),
                    before.inheritance().source());
            return startAll(config, file, environment, choice, before, succession, warmUp, made);
        } catch (IOException | TransportChoice.UnavailableException failed) {
            made.forEach(Runnable::run);
            throw failed;
        } catch (RuntimeException failed) {
            made.forEach(Runnable::run);
            log.debug("the start failed", failed);
            throw new IOException("cannot start: " + failed, failed);
        }
    }

    /**
     * What it is made of, in order. Accepting comes last: until then nobody is dropped if something else cannot be had, or if
     * the process before does not give way; and {@code /readyz} already says that the process is starting.
     *
     * @param made how to end what was made, the last first
     */
    private static Service startAll(
            Config config,
            Optional<Path> file,
            Map<String, String> environment,
            TransportChoice choice,
            Predecessor before,
            Succession succession,
            WarmUp warmUp,
            Deque<Runnable> made)
            throws IOException {
        Inheritance inheritance = before.inheritance();
        int workers = config.process().workers().orElse(Runtime.getRuntime().availableProcessors());
        int listeners = config.frontends().stream()
                .mapToInt(frontend -> frontend.listen().size())
                .sum();
        FdLimit fdLimit = FdLimit.ofThisProcess(workers, listeners);
        int maxConnections = maxConnections(config.process(), fdLimit);
        Ticker ticker = System::nanoTime;
        FloodLog floods = new FloodLog(System::nanoTime);
        floods.start();
        made.push(floods::close);
        AccessLog accessLog = AccessLog.open(
                target(config.log().access()),
                AccessLogFormat.valueOf(config.log().access().format().name()),
                AccessLog.CAPACITY,
                InstantSource.system(),
                floods);
        made.push(accessLog::close);
        Optional<StateStore> state = file.map(
                path -> StateStore.open(StateDirectory.of(config.process().stateDir(), environment::get)));
        state.ifPresent(store -> made.push(store::close));
        Proxy proxy = Proxy.prepare(
                config,
                new Proxy.Parts(
                        choice.transport(),
                        workers,
                        maxConnections,
                        ticker,
                        System.nanoTime(),
                        floods,
                        accessLog::offer,
                        DnsServerAddressStreamProviders.platformDefault(),
                        InstantSource.system(),
                        state.map(StateStore::load).orElse(RuntimeState.EMPTY),
                        runtime -> state.map(store -> store.save(runtime))
                                .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty())),
                        inheritance.forFrontends()));
        made.push(proxy::close);
        Metrics metrics = new Metrics(
                proxy::snapshot,
                proxy.counters(),
                proxy.reloads(),
                accessLog,
                VersionCommand.version(),
                ticker::nanoTime);
        AtomicReference<Runnable> whenReloaded = new AtomicReference<>(() -> {});
        Optional<FileReloads> reloads = file.map(path -> new FileReloads(
                path, environment::get, proxy, () -> whenReloaded.get().run()));
        reloads.ifPresent(each -> made.push(each::close));
        ProcessInfo process = new ProcessInfo(
                VersionCommand.version(),
                ProcessHandle.current().pid(),
                file,
                choice.transport().name(),
                choice.reason(),
                Instant.now());
        HandOver handOver = new HandOver(proxy, succession.whenHandedOver(), () -> reloads.ifPresent(Service::again));
        made.push(handOver::close);
        AdminServer admin = new AdminServer(
                new ProxyAdmin(
                        proxy,
                        metrics,
                        process,
                        InstantSource.system(),
                        System::nanoTime,
                        reloads,
                        file.map(path -> handOver)),
                TransportChoice.epollHandlers());
        made.push(admin::close);
        whenReloaded.set(() -> {
            listening(proxy).forEach(log::debug);
            admin.refresh(); // of tokens and certificates, which may have changed while the configuration has not
        });
        List<AdminAddress> wanted = AdminListens.of(config.admin(), environment, inheritance);
        inheritance.closeUnused(wanted);
        List<AdminAddress> adminAddresses = admin.prepare(new AdminSettings(
                wanted,
                config.admin().tokenFile().map(Path::of),
                config.admin()
                        .tls()
                        .map(tls -> new AdminTls(
                                Path.of(tls.certificate()),
                                Path.of(tls.key()),
                                tls.clientCa().map(Path::of)))));
        if (!succession.takeOver()) {
            admin.serve(); // who asks hears that the process is starting; while there is another, that one answers
        }
        before.whenGone(warmUp::stop); // who comes meanwhile waits for this one alone
        warmUp.run(config, new WarmUp.Like(choice.transport(), workers, ticker));
        proxy.bind();
        before.awaitWay(proxy, succession.askedToStop());
        proxy.accept();
        before.settle(admin);
        inheritance.removeFilesOfUnused(wanted);
        if (!succession.arguments().isEmpty()) {
            handOver.serve(HandOverPath.of(config.admin(), environment), admin, succession.arguments());
        }
        log.info(
                "started version={} transport={} ({}) workers={} max-connections={}",
                VersionCommand.version(),
                choice.transport().name(),
                choice.reason(),
                workers,
                maxConnections);
        if (config.process().maxConnections().isEmpty() && maxConnections < FEW) {
            log.warn(
                    "process.max-connections: auto is {}, and who comes beyond that is reset: the limit on file descriptors"
                            + " is {}, there are {} MiB of heap; raise the one that is short (LimitNOFILE, ulimit -n; -Xmx)",
                    maxConnections,
                    fdLimit.descriptors(),
                    Runtime.getRuntime().maxMemory() >> 20);
        }
        if (adminAddresses.isEmpty()) {
            log.warn(
                    "admin API off: set admin.listen, RUNTIME_DIRECTORY or XDG_RUNTIME_DIR to have /readyz and /metrics");
        }
        adminAddresses.forEach(address -> log.info("admin API on {}", address));
        listening(proxy).forEach(log::info);
        inheritance.unused().forEach(log::warn);
        state.flatMap(StateStore::path).ifPresent(path -> log.info("runtime state in {}", path));
        if (!proxy.runtime().isEmpty()) {
            log.warn("in force from before the restart: {}", RestoredText.changes(proxy.runtime()));
            RestoredText.servingNobody(proxy.runtime(), proxy.snapshot()).forEach(log::warn);
        }
        return new Service(accessLog, proxy, admin, choice, reloads, handOver, before.process(), made);
    }

    private static void again(FileReloads reloads) {
        log.info("reads the configuration again: a reload was refused while another process was to take over");
        var unused = reloads.reload(); // the log says how it came out
    }

    /** A line for each listener. */
    static List<String> listening(Proxy proxy) {
        return proxy.listeners().entrySet().stream()
                .map(entry -> "listening frontend=" + entry.getKey().frontend() + " listener="
                        + entry.getKey().name() + " bound=" + AddressText.of(entry.getValue()))
                .toList();
    }

    private static int maxConnections(ProcessConfig process, FdLimit limit) throws IOException {
        int possible = limit.connections();
        MemoryNeed memory = MemoryNeed.ofThisProcess();
        if (process.maxConnections().isEmpty()) {
            return memory.carried(possible);
        }
        int wanted = process.maxConnections().getAsInt();
        if (wanted > possible) {
            throw new IOException("process.max-connections: " + wanted + " needs " + limit.descriptorsFor(wanted)
                    + " file descriptors, the limit is " + limit.descriptors()
                    + "; raise it (LimitNOFILE, ulimit -n) or take " + possible + " at most");
        }
        memory.complaints(wanted).forEach(line -> log.warn("{}", line));
        return wanted;
    }

    private static AccessLogTarget target(AccessLogConfig config) {
        return switch (config.path()) {
            case "stdout" -> new AccessLogTarget.Stdout();
            case "none" -> new AccessLogTarget.None();
            default -> new AccessLogTarget.File(Path.of(config.path()));
        };
    }

    /** The balancer itself. */
    Proxy proxy() {
        return proxy;
    }

    /** Which transport it uses, and why. */
    TransportChoice choice() {
        return choice;
    }

    /** Where the admin API listens, with real ports. */
    List<AdminAddress> adminAddresses() {
        return admin.addresses();
    }

    /** The first asks for a graceful stop, the second for one now. */
    void onTerm() {
        if (terms.getAndIncrement() == 0) {
            proxy.stopGracefully();
        } else {
            stopNow();
        }
    }

    void stopNow() {
        hurried.complete(null);
        proxy.stopNow();
    }

    /** Has the program, as it is on the disk now, take over. Returns at once; the log says how it comes out. */
    void upgrade() {
        var unused = CompletableFuture.supplyAsync(() -> handOver.begin(false)).handle((outcome, fault) -> {
            if (fault != null) {
                log.error("upgrade failed by a fault of our own", fault);
            } else if (outcome instanceof Outcome.Refused refused) {
                log.error("upgrade refused: {}", refused.detail());
            }
            return outcome;
        });
    }

    void reopenLogs() {
        accessLog.reopen();
    }

    /** Reloads of the file that it was started from; empty when there is none. */
    Optional<FileReloads> reloads() {
        return reloads;
    }

    /** Waits until the proxy has stopped, and ends what it was wired to, the last first. */
    void awaitStopped() {
        proxy.stopped().join();
        ends.forEach(Runnable::run);
    }

    /**
     * Waits for the process that this one has taken over from, while that still drains: not past this one's own deadline, and
     * not once it is to stop now. To be called when this one has stopped.
     *
     * @param waitsFor told that process, if it still runs
     */
    void awaitPredecessor(LongConsumer waitsFor) {
        if (before.isEmpty() || !before.get().isAlive() || hurried.isDone()) {
            return;
        }
        long pid = before.get().pid();
        log.info("waits for the process before, which still drains pid={}", pid);
        waitsFor.accept(pid);
        StopTimes times = proxy.stopBegun().getNow(null);
        // Without times this one has handed over itself, and the one before it began to drain earlier.
        long nanos = times == null
                ? proxy.config().process().shutdown().deadline().toNanos()
                : times.overNanos() - System.nanoTime();
        try {
            CompletableFuture.anyOf(before.get().onExit(), hurried).get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            log.warn("the process before still runs, and is waited for no more pid={}", pid);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of process " + pid + " cannot be waited for", e);
        }
    }
}
