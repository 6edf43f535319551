package dev.tidegate.control;

import dev.tidegate.admin.MetricsFormat;
import dev.tidegate.admin.ProxyOperations;
import dev.tidegate.admin.Readiness;
import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.ConnectionFilter;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Outcome.Why;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.ChangeView;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.DiffView;
import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.Page;
import dev.tidegate.admin.view.ProblemView;
import dev.tidegate.admin.view.StatusView;
import dev.tidegate.admin.view.UpgradeView;
import dev.tidegate.admin.view.WorkerView;
import dev.tidegate.config.ConfigDocument;
import dev.tidegate.config.Problem;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.model.Frontend;
import dev.tidegate.telemetry.Metrics;
import dev.tidegate.telemetry.ReloadCounts;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** What the admin API serves, of a running proxy. Any thread. */
public final class ProxyAdmin implements ProxyOperations {
    /** How old a view may be that workers have to be asked for, so that those who ask often cost no more than others. */
    private static final long VIEW_NANOS = 100_000_000;

    private final Proxy proxy;
    private final Metrics metrics;
    private final ProcessInfo process;
    private final InstantSource clock;
    private final Optional<FileReloads> reloads;
    private final Optional<Upgrades> upgrades;
    private final Recent<List<OperationView>> operations;
    private final Recent<StatusView> status;
    private volatile long viewedGeneration; // writer: whoever reads; views are of this one

    /**
     * @param proxy what is shown and changed
     * @param metrics of it
     * @param process what does not change about it
     * @param clock the time of day
     * @param ticker monotonic time
     * @param reloads of its configuration file; empty when it has none
     */
    public ProxyAdmin(
            Proxy proxy,
            Metrics metrics,
            ProcessInfo process,
            InstantSource clock,
            Ticker ticker,
            Optional<FileReloads> reloads) {
        this(proxy, metrics, process, clock, ticker, reloads, Optional.empty());
    }

    /**
     * @param proxy what is shown and changed
     * @param metrics of it
     * @param process what does not change about it
     * @param clock the time of day
     * @param ticker monotonic time
     * @param reloads of its configuration file; empty when it has none
     * @param upgrades of the process; empty when it is none that can be started anew
     */
    public ProxyAdmin(
            Proxy proxy,
            Metrics metrics,
            ProcessInfo process,
            InstantSource clock,
            Ticker ticker,
            Optional<FileReloads> reloads,
            Optional<Upgrades> upgrades) {
        this.upgrades = upgrades;
        this.proxy = proxy;
        this.metrics = metrics;
        this.process = process;
        this.clock = clock;
        this.reloads = reloads;
        this.operations = new Recent<>(ticker, VIEW_NANOS, () -> proxy.views().operations());
        this.status = new Recent<>(ticker, VIEW_NANOS, this::askStatus);
    }

    // ---- open to all

    @Override
    public Readiness readiness(Optional<String> frontend) {
        Readiness.State state =
                switch (proxy.phase()) {
                    case STARTING -> Readiness.State.STARTING;
                    case RUNNING -> running();
                    case DRAINING, STOPPED -> Readiness.State.DRAINING;
                };
        return new Readiness(
                state,
                proxy.snapshot().frontends().stream()
                        .filter(candidate ->
                                frontend.isEmpty() || frontend.get().equals(candidate.name()))
                        .map(this::readiness)
                        .toList());
    }

    /** Ready is who knows of its endpoints. */
    private Readiness.State running() {
        if (proxy.drained()) {
            return Readiness.State.DRAINING;
        }
        return proxy.firstChecksOver() ? Readiness.State.READY : Readiness.State.STARTING;
    }

    private Readiness.FrontendReadiness readiness(Frontend frontend) {
        boolean listens = !proxy.runtime().drainingFrontends().contains(frontend.name());
        return new Readiness.FrontendReadiness(
                frontend.name(), listens && frontend.backend().hasCandidate());
    }

    @Override
    public void writeMetrics(MetricsFormat format, OutputStream out) throws IOException {
        metrics.write(
                switch (format) {
                    case PROMETHEUS_TEXT -> Metrics.Format.PROMETHEUS_TEXT;
                    case OPENMETRICS -> Metrics.Format.OPENMETRICS;
                },
                out);
    }

    // ---- reading

    @Override
    public long generation() {
        return proxy.snapshot().generation();
    }

    @Override
    public CompletionStage<StatusView> status() {
        forgetOtherGenerations();
        return status.get();
    }

    /** The configuration changes by a signal too, or because its file did. */
    private void forgetOtherGenerations() {
        long generation = generation();
        if (generation != viewedGeneration) {
            viewedGeneration = generation;
            forgetViews();
        }
    }

    private void forgetViews() {
        operations.forget();
        status.forget();
    }

    private CompletionStage<StatusView> askStatus() {
        return proxy.views().operations().thenCombine(proxy.views().ages(), (operations, ages) -> {
            Instant now = clock.instant();
            return new StatusView(
                    process.version(),
                    process.pid(),
                    state(),
                    process.started(),
                    Math.max(0, Duration.between(process.started(), now).toMillis()),
                    generation(),
                    process.config()
                            .map(file -> file.toAbsolutePath().toString())
                            .orElse(null),
                    process.transport(),
                    process.transportReason(),
                    proxy.counters().stream()
                            .map(worker -> new WorkerView(worker.worker(), worker.connections()))
                            .toList(),
                    proxy.connections().active(),
                    proxy.connections().max(),
                    LevelInForce.of(proxy.config(), proxy.runtime()).name().toLowerCase(Locale.ROOT),
                    reloadCounts(),
                    ages,
                    operations.stream()
                            .filter(operation -> operation.state().equals("running"))
                            .toList());
        });
    }

    private String state() {
        return switch (proxy.phase()) {
            case STARTING -> "starting";
            case RUNNING -> proxy.drained() ? "draining" : "ready";
            case DRAINING, STOPPED -> "stopping";
        };
    }

    private Map<String, Long> reloadCounts() {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (ReloadCounts.Result result : ReloadCounts.Result.values()) {
            counts.put(result.word(), proxy.reloads().of(result));
        }
        return counts;
    }

    @Override
    public Map<String, Object> config() {
        return ConfigDocument.of(proxy.config());
    }

    @Override
    public List<FrontendView> frontends() {
        return proxy.views().frontends();
    }

    @Override
    public List<BackendView> backends() {
        return proxy.views().backends();
    }

    @Override
    public CompletionStage<Page<ConnectionView>> connections(ConnectionFilter filter) {
        return proxy.views().connections(filter);
    }

    @Override
    public CompletionStage<List<OperationView>> operations() {
        forgetOtherGenerations();
        return operations.get();
    }

    @Override
    public List<EventView> recentEvents(int max) {
        return proxy.events().recent(max);
    }

    @Override
    public Runnable followEvents(Consumer<EventView> sink) {
        return proxy.events().follow(sink);
    }

    // ---- writing

    @Override
    public CompletionStage<Outcome> execute(Command command, WriteContext context) {
        if (command instanceof Command.Upgrade) {
            return upgrade(context);
        }
        CompletionStage<Outcome> done =
                command instanceof Command.Reload ? reload(context) : proxy.execute(command, context);
        // Before it is told, so that whoever hears of it never reads what was before; of a fault, too.
        return done.whenComplete((outcome, fault) -> forgetViews());
    }

    @Override
    public UpgradeView upgrade() {
        return upgrades.map(Upgrades::view).orElseGet(() -> new UpgradeView(process.pid(), "none", null, ""));
    }

    private CompletionStage<Outcome> upgrade(WriteContext context) {
        if (isStale(context)) {
            return stale(context);
        }
        if (upgrades.isEmpty()) {
            return refused(Why.CONFLICT, "this process was not started from a configuration file", List.of());
        }
        if (proxy.phase() != Proxy.Phase.RUNNING) {
            return refused(Why.UNAVAILABLE, "the process is starting or stopping", List.of());
        }
        // To start a process takes a moment, which the admin loop does not have.
        return CompletableFuture.supplyAsync(() -> upgrades.get().begin(context.dryRun()));
    }

    private boolean isStale(WriteContext context) {
        return context.ifGeneration().isPresent() && context.ifGeneration().getAsLong() != generation();
    }

    private CompletionStage<Outcome> stale(WriteContext context) {
        return refused(
                Why.STALE,
                ReloadResult.staleReason(generation(), context.ifGeneration().getAsLong()),
                List.of());
    }

    private CompletionStage<Outcome> reload(WriteContext context) {
        if (isStale(context)) {
            return stale(context);
        }
        if (proxy.phase() != Proxy.Phase.RUNNING) {
            return refused(Why.UNAVAILABLE, "the process is starting or stopping", List.of());
        }
        if (reloads.isEmpty()) {
            return refused(Why.CONFLICT, "this process was not started from a configuration file", List.of());
        }
        FileReloads file = reloads.get();
        return (context.dryRun() ? file.dryRun() : file.reload(context.ifGeneration())).thenApply(ProxyAdmin::outcome);
    }

    private static CompletionStage<Outcome> refused(Why why, String detail, List<ProblemView> problems) {
        return CompletableFuture.completedFuture(new Outcome.Refused(why, detail, problems));
    }

    private static Outcome outcome(FileReloads.FileReload reload) {
        if (reload.result().isEmpty()) {
            List<ProblemView> problems =
                    reload.problems().stream().map(ProxyAdmin::problem).toList();
            return new Outcome.Refused(
                    Why.INVALID, "the configuration has problems: " + problems.size() + "; nothing changed", problems);
        }
        ReloadResult result = reload.result().get();
        if (result.stale()) {
            return new Outcome.Refused(Why.STALE, result.reason(), List.of());
        }
        if (result.result() == ReloadCounts.Result.REJECTED) {
            return new Outcome.Refused(Why.CONFLICT, result.reason() + "; nothing changed", List.of());
        }
        return new Outcome.Compared(new DiffView(
                result.generation(),
                result.diff().changes().stream().map(ProxyAdmin::change).toList()));
    }

    private static ProblemView problem(Problem problem) {
        return new ProblemView(
                problem.file(),
                problem.line(),
                problem.column(),
                problem.path(),
                problem.message(),
                problem.hint(),
                problem.severity().name().toLowerCase(Locale.ROOT));
    }

    private static ChangeView change(ConfigDiff.Change change) {
        return new ChangeView(
                change.op().word(),
                change.path(),
                change.op() == ConfigDiff.Op.ADD ? null : change.from(),
                change.op() == ConfigDiff.Op.REMOVE ? null : change.to(),
                change.applies().word(),
                change.connections());
    }
}
