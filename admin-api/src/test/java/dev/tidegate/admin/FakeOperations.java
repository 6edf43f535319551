package dev.tidegate.admin;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.ConnectionFilter;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.AgeBucket;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.BreakerView;
import dev.tidegate.admin.view.ChangeView;
import dev.tidegate.admin.view.CheckView;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.DiffView;
import dev.tidegate.admin.view.EjectionView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.HealthView;
import dev.tidegate.admin.view.LifetimeView;
import dev.tidegate.admin.view.ListenerView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.Page;
import dev.tidegate.admin.view.StatusView;
import dev.tidegate.admin.view.UpgradeView;
import dev.tidegate.admin.view.WeightView;
import dev.tidegate.admin.view.WorkerView;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * A proxy that is as ready as it is told to be: one frontend {@code edge}, one backend {@code web} with the endpoint
 * {@code a}. It keeps what it is asked to do, and does as {@link #onExecute} says.
 */
final class FakeOperations implements ProxyOperations {
    static final OperationView OPERATION = new OperationView(
            "op-1",
            "drain",
            "backends/web/endpoints/a",
            "running",
            10,
            4,
            5,
            1,
            2.5,
            61_000L,
            null,
            Instant.parse("2026-01-02T03:04:05Z"),
            "graceful",
            Instant.parse("2026-01-02T03:00:00Z"));
    static final List<ChangeView> CHANGES =
            List.of(new ChangeView("change", "backends.web.endpoints.a.weight", "1", "5", "live", 0));

    volatile Readiness readiness =
            new Readiness(Readiness.State.READY, List.of(new Readiness.FrontendReadiness("edge", true)));
    volatile String metrics = "up 1\n";
    volatile RuntimeException failure;
    volatile Runnable onScrape = () -> {};
    volatile Executor onStatus = ForkJoinPool.commonPool();
    volatile BiFunction<Command, WriteContext, CompletionStage<Outcome>> onExecute =
            (command, context) -> CompletableFuture.completedFuture(
                    context.dryRun()
                            ? new Outcome.Compared(new DiffView(7, CHANGES))
                            : new Outcome.Done(8, CHANGES, null));
    volatile List<EventView> recent = List.of();
    final List<Command> commands = new CopyOnWriteArrayList<>();
    final List<WriteContext> contexts = new CopyOnWriteArrayList<>();
    final List<ConnectionFilter> filters = new CopyOnWriteArrayList<>();
    final List<Consumer<EventView>> followers = new CopyOnWriteArrayList<>();

    static EventView event(long id, String message) {
        return new EventView(
                id, Instant.parse("2026-01-02T03:04:05Z"), "endpoint-state", message, Map.of("endpoint", "a"));
    }

    void tell(EventView event) {
        followers.forEach(follower -> follower.accept(event));
    }

    @Override
    public Readiness readiness(Optional<String> frontend) {
        if (failure != null) {
            throw failure;
        }
        Readiness all = readiness;
        return new Readiness(
                all.state(),
                all.frontends().stream()
                        .filter(each -> frontend.isEmpty() || frontend.get().equals(each.name()))
                        .toList());
    }

    @Override
    public void writeMetrics(MetricsFormat format, OutputStream out) throws IOException {
        onScrape.run();
        out.write((format + " " + metrics).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public long generation() {
        return 7;
    }

    /** From a thread of its own, as the real one. */
    @Override
    public CompletionStage<StatusView> status() {
        return CompletableFuture.supplyAsync(
                () -> new StatusView(
                        "1.2.3",
                        42,
                        "ready",
                        Instant.parse("2026-01-02T03:04:05.678Z"),
                        1000,
                        7,
                        null,
                        "nio",
                        "asked for",
                        List.of(new WorkerView(0, 3)),
                        3,
                        1000,
                        "info",
                        Map.of("applied", 2L),
                        List.of(new AgeBucket(1000L, 2), new AgeBucket(null, 1)),
                        List.of(OPERATION)),
                onStatus);
    }

    @Override
    public Map<String, Object> config() {
        return Map.of("frontends", List.of(Map.of("name", "edge", "max-connections", 10)));
    }

    @Override
    public List<FrontendView> frontends() {
        return List.of(new FrontendView(
                "edge",
                "ready",
                "web",
                List.of(new ListenerView("127.0.0.1:0", null)),
                "auto",
                10,
                new LifetimeView(3_600_000L, 0.2, null, null, 300_000, 5_000, 2_000),
                3,
                30,
                Map.of("tcp", 5L),
                1,
                2,
                Map.of("client-closed", 27L),
                Map.of(),
                null));
    }

    @Override
    public List<BackendView> backends() {
        EndpointView a = new EndpointView(
                "a",
                "web",
                "127.0.0.1:80",
                List.of("127.0.0.1:80"),
                "config",
                "ready",
                true,
                true,
                null,
                new WeightView(1, null, 1),
                100.0,
                null,
                3,
                30,
                Map.of("ok", 30L),
                Map.of(),
                null,
                null,
                null,
                null);
        EndpointView b = new EndpointView(
                "b",
                "web",
                "127.0.0.1:81",
                List.of("127.0.0.1:81"),
                "config",
                "ready",
                false,
                false,
                "down: connection refused; ejected until then: 5 failures in a row; its breaker is open",
                new WeightView(1, null, 1),
                37.5,
                100,
                0,
                3,
                Map.of("refused", 3L),
                Map.of("refused", 3L),
                new HealthView(
                        "down",
                        Instant.EPOCH,
                        1,
                        2,
                        500,
                        List.of(new CheckView(Instant.EPOCH, 1, "fail", "connection refused", "down"))),
                new EjectionView(Instant.EPOCH, "5 failures in a row", 1),
                new BreakerView("open", Instant.EPOCH),
                null);
        return List.of(new BackendView("web", "power-of-two", "ready", 1, false, false, 3, 0, 0, List.of(a, b)));
    }

    @Override
    public CompletionStage<Page<ConnectionView>> connections(ConnectionFilter filter) {
        filters.add(filter);
        ConnectionView one = new ConnectionView(
                "0-1",
                "edge",
                "127.0.0.1:0",
                "127.0.0.1:9",
                "web",
                null,
                null,
                "tcp",
                "dialing",
                null,
                false,
                null,
                5,
                5,
                0,
                0,
                0,
                0,
                7);
        return CompletableFuture.completedFuture(new Page<>(List.of(one), 3));
    }

    @Override
    public CompletionStage<List<OperationView>> operations() {
        return CompletableFuture.completedFuture(List.of(OPERATION));
    }

    @Override
    public List<EventView> recentEvents(int max) {
        List<EventView> all = recent;
        return all.subList(Math.max(0, all.size() - max), all.size());
    }

    @Override
    public Runnable followEvents(Consumer<EventView> sink) {
        followers.add(sink);
        return () -> followers.remove(sink);
    }

    @Override
    public UpgradeView upgrade() {
        return new UpgradeView(4711, "failed", 4712L, "it ended with exit code 78");
    }

    @Override
    public CompletionStage<Outcome> execute(Command command, WriteContext context) {
        commands.add(command);
        contexts.add(context);
        return onExecute.apply(command, context);
    }
}
