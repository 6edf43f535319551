package dev.tidegate.admin;

import dev.tidegate.admin.command.ConnectionFilter;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.LogLevelView;
import dev.tidegate.admin.view.Page;
import dev.tidegate.admin.view.ReadinessView;
import dev.tidegate.admin.view.StatusView;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** The calls that change nothing. Confined to the admin loop. */
final class Reads {
    private static final int CONNECTIONS_LISTED = 100;
    private static final Duration STATS_INTERVAL_MIN = Duration.ofMillis(250);
    private static final Duration STATS_INTERVAL_MAX = Duration.ofHours(1);

    private final ProxyOperations operations;
    private final Executor loop;
    private final Scrapes scrapes;
    private final StatusPage page = StatusPage.load();
    private StatusView told; // and how, below; on the loop alone
    private Answer toldAs;

    /**
     * @param loop where answers are made of what other threads have told: none of theirs has the time
     * @param scrapes where metrics are made
     */
    Reads(ProxyOperations operations, Executor loop, Scrapes scrapes) {
        this.operations = operations;
        this.loop = loop;
        this.scrapes = scrapes;
    }

    CompletionStage<Answer> livez(Call call) {
        return now(Answer.text("live\n"));
    }

    CompletionStage<Answer> readyz(Call call) throws Refusal {
        Optional<String> frontend = call.query().text("frontend");
        Readiness readiness = operations.readiness(frontend);
        boolean unknown = frontend.isPresent()
                && readiness.frontends().isEmpty()
                && readiness.state() != Readiness.State.STARTING;
        if (unknown) {
            throw notFound("frontend", frontend.get(), "/v1/frontends");
        }
        HttpResponseStatus status = readiness.ready() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE;
        return now(Answer.json(
                status, new ReadinessView(readiness.ready(), readiness.state().word(), readiness.withoutCandidate())));
    }

    CompletionStage<Answer> metrics(Call call) {
        MetricsFormat format = Accepts.openMetrics(call.headers().getAll("accept"))
                ? MetricsFormat.OPENMETRICS
                : MetricsFormat.PROMETHEUS_TEXT;
        return scrapes.ask(format);
    }

    CompletionStage<Answer> page(Call call) {
        return now(page.answer());
    }

    CompletionStage<Answer> status(Call call) {
        return operations.status().thenApplyAsync(this::status, loop);
    }

    /** Who asks often is given the same view again and again. */
    @SuppressWarnings("ReferenceEquality") // the very same view has the same text; another one is written anew
    private Answer status(StatusView status) {
        if (status != told) {
            toldAs = tagged(status, status.generation());
            told = status;
        }
        return toldAs;
    }

    CompletionStage<Answer> config(Call call) {
        long generation = operations.generation(); // first: a tag that is too old fails safe
        return now(tagged(operations.config(), generation));
    }

    CompletionStage<Answer> upgrade(Call call) {
        return now(tagged(operations.upgrade(), operations.generation()));
    }

    CompletionStage<Answer> logLevel(Call call) {
        return operations.status().thenApplyAsync(Reads::logLevel, loop);
    }

    private static Answer logLevel(StatusView status) {
        return tagged(new LogLevelView(status.logLevel()), status.generation());
    }

    CompletionStage<Answer> frontends(Call call) {
        long generation = operations.generation();
        return now(tagged(page(operations.frontends()), generation));
    }

    CompletionStage<Answer> frontend(Call call) throws Refusal {
        long generation = operations.generation();
        for (FrontendView frontend : operations.frontends()) {
            if (frontend.name().equals(call.frontend())) {
                return now(tagged(frontend, generation));
            }
        }
        throw notFound("frontend", call.frontend(), "/v1/frontends");
    }

    CompletionStage<Answer> backends(Call call) {
        long generation = operations.generation();
        return now(tagged(page(operations.backends()), generation));
    }

    CompletionStage<Answer> backend(Call call) throws Refusal {
        long generation = operations.generation();
        return now(tagged(backendOf(call), generation));
    }

    CompletionStage<Answer> endpoints(Call call) throws Refusal {
        long generation = operations.generation();
        return now(tagged(page(backendOf(call).endpoints()), generation));
    }

    CompletionStage<Answer> endpoint(Call call) throws Refusal {
        long generation = operations.generation();
        for (EndpointView endpoint : backendOf(call).endpoints()) {
            if (endpoint.name().equals(call.endpoint())) {
                return now(tagged(endpoint, generation));
            }
        }
        throw notFound("endpoint", call.endpoint(), "/v1/backends/" + Writes.encode(call.backend()) + "/endpoints");
    }

    private BackendView backendOf(Call call) throws Refusal {
        for (BackendView backend : operations.backends()) {
            if (backend.name().equals(call.backend())) {
                return backend;
            }
        }
        throw notFound("backend", call.backend(), "/v1/backends");
    }

    CompletionStage<Answer> connections(Call call) {
        Values query = call.query();
        ConnectionFilter filter = new ConnectionFilter(
                query.text("frontend"),
                query.text("backend"),
                query.text("endpoint"),
                query.integer("limit").orElse(CONNECTIONS_LISTED));
        return operations.connections(filter).thenApplyAsync(page -> Answer.json(HttpResponseStatus.OK, page), loop);
    }

    CompletionStage<Answer> operations(Call call) {
        return operations.operations().thenApplyAsync(all -> Answer.json(HttpResponseStatus.OK, page(all)), loop);
    }

    CompletionStage<Answer> operation(Call call) {
        return operations
                .operations()
                .thenApplyAsync(
                        all -> all.stream()
                                .filter(operation -> operation.id().equals(call.id()))
                                .findFirst()
                                .map(operation -> Answer.json(HttpResponseStatus.OK, operation))
                                .orElseGet(() -> notFound("operation", call.id(), "/v1/operations")
                                        .answer()),
                        loop);
    }

    CompletionStage<Answer> events(Call call) throws Refusal {
        Optional<Duration> stats = call.query().duration("stats");
        if (stats.isPresent() && isOutOfRange(stats.get())) {
            throw new Refusal(Answer.badRequest("stats: an interval from 250ms to 1h is taken"));
        }
        return now(
                Answer.stream(new StreamOptions(call.query().integer("recent").orElse(0), lastEventId(call), stats)));
    }

    private static boolean isOutOfRange(Duration interval) {
        return interval.compareTo(STATS_INTERVAL_MIN) < 0 || interval.compareTo(STATS_INTERVAL_MAX) > 0;
    }

    /** What a browser that comes back has seen; whatever is no id of ours is as good as none. */
    private static OptionalLong lastEventId(Call call) {
        String seen = call.headers().get("last-event-id", "");
        return Kind.integer(0, Long.MAX_VALUE)
                .parse(seen)
                .map(id -> OptionalLong.of((Long) id))
                .orElse(OptionalLong.empty());
    }

    static CompletionStage<Answer> now(Answer answer) {
        return CompletableFuture.completedFuture(answer);
    }

    private static Answer tagged(Object view, long generation) {
        return Answer.json(HttpResponseStatus.OK, view).tagged(generation);
    }

    private static <T> Page<T> page(List<T> all) {
        return new Page<>(all, all.size());
    }

    private static Refusal notFound(String kind, String name, String list) {
        return new Refusal(Answer.problem(
                HttpResponseStatus.NOT_FOUND, "there is no " + kind + " \"" + name + "\"; GET " + list + " lists all"));
    }
}
