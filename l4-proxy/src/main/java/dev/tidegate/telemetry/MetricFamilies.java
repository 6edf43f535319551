package dev.tidegate.telemetry;

import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import dev.tidegate.telemetry.MetricSource.View;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The names: every metric of Tidegate's own, with its type, its labels, what it means and where it comes from. */
final class MetricFamilies {
    /** All of them, by topic. */
    static final List<MetricFamily> ALL = List.of(
            MetricFamily.gauge(
                    "connections_active",
                    "Connections accepted and not yet gone, those that linger after their end included.",
                    MetricFamilies::connectionsActive,
                    "frontend"),
            MetricFamily.counter(
                    "connections_accepted_total",
                    "Connections accepted.",
                    MetricFamilies::connectionsAccepted,
                    "frontend"),
            MetricFamily.counter(
                    "connections_closed_total",
                    "Connections that ended, by the reason why.",
                    MetricFamilies::connectionsClosed,
                    "frontend",
                    "reason"),
            MetricFamily.counter(
                    "connections_retired_total",
                    "Connections that Tidegate itself brought to an end, by the reason why and the way how.",
                    MetricFamilies::connectionsRetired,
                    "frontend",
                    "reason",
                    "how"),
            MetricFamily.counter(
                    "connections_cut_mid_exchange_total",
                    "Connections that Tidegate cut in the middle of something: a hard limit came, or an operator asked.",
                    MetricFamilies::connectionsCutMidExchange,
                    "frontend"),
            MetricFamily.histogram(
                    "connection_duration_seconds",
                    "How long connections lived, from accept to the end.",
                    MetricFamilies::connectionDuration,
                    "frontend"),
            MetricFamily.counter(
                    "requests_total",
                    "Requests begun: HTTP/1 requests, HTTP/2 streams that clients opened, and exchanges where no protocol is recognised.",
                    MetricFamilies::requests,
                    "frontend",
                    "protocol"),
            MetricFamily.counter(
                    "received_bytes_total", "Bytes read from clients.", MetricFamilies::receivedBytes, "frontend"),
            MetricFamily.counter(
                    "sent_bytes_total",
                    "Bytes handed to the sockets of clients.",
                    MetricFamilies::sentBytes,
                    "frontend"),
            MetricFamily.gauge(
                    "endpoint_in_flight",
                    "Connections admitted to an endpoint and not yet released, connects under way included.",
                    MetricFamilies::endpointInFlight,
                    "backend",
                    "endpoint"),
            MetricFamily.gauge(
                    "endpoint_state",
                    "1 when the endpoint is in that state, else 0; it can be in several at a time. breaker-open is 1 while connects to it are not made.",
                    MetricFamilies::endpointState,
                    "backend",
                    "endpoint",
                    "state"),
            MetricFamily.gauge(
                    "endpoint_weight",
                    "The endpoint's weight: as configured, as an operator set it since, and as picks use it now.",
                    MetricFamilies::endpointWeight,
                    "backend",
                    "endpoint",
                    "kind"),
            MetricFamily.counter(
                    "endpoint_connects_total",
                    "Attempts to connect to an endpoint, by how they came out.",
                    MetricFamilies::endpointConnects,
                    "backend",
                    "endpoint",
                    "result"),
            MetricFamily.histogram(
                    "endpoint_connect_duration_seconds",
                    "How long successful connects to an endpoint took.",
                    MetricFamilies::endpointConnectDuration,
                    "backend",
                    "endpoint"),
            MetricFamily.counter(
                    "endpoint_picks_total",
                    "Times a pick chose the endpoint.",
                    MetricFamilies::endpointPicks,
                    "backend",
                    "endpoint"),
            MetricFamily.counter(
                    "endpoint_requests_total",
                    "Requests begun on connections to the endpoint, or exchanges where no protocol is recognised.",
                    MetricFamilies::endpointRequests,
                    "backend",
                    "endpoint"),
            MetricFamily.gauge(
                    "backend_imbalance",
                    "How much the most loaded endpoint has of its fair share by weight, among those that take connections: of the connections now, and of the requests in about the last minute; 1 is even.",
                    MetricFamilies::backendImbalance,
                    "backend",
                    "kind"),
            MetricFamily.counter(
                    "dial_retries_total",
                    "Attempts to connect after a connection's first.",
                    MetricFamilies::dialRetries,
                    "backend"),
            MetricFamily.counter(
                    "retry_budget_exhausted_total",
                    "Attempts after a connection's first that were not made, since the retry budget was spent.",
                    MetricFamilies::budgetExhausted,
                    "backend"),
            MetricFamily.gauge(
                    "backend_panic",
                    "1 while too few endpoints of the backend are fit (below panic.threshold), else 0.",
                    MetricFamilies::backendPanic,
                    "backend"),
            MetricFamily.counter(
                    "health_checks_total",
                    "Health checks of an endpoint, by result; not ready is a fail here.",
                    MetricFamilies::healthChecks,
                    "backend",
                    "endpoint",
                    "result"),
            MetricFamily.counter(
                    "health_checks_late_total",
                    "Health checks of an endpoint that started later than their interval after they were due, as there are too many.",
                    MetricFamilies::healthChecksLate,
                    "backend",
                    "endpoint"),
            MetricFamily.gauge(
                    "endpoint_last_check_timestamp_seconds",
                    "When the last health check of an endpoint ended, in seconds of the epoch.",
                    MetricFamilies::lastCheck,
                    "backend",
                    "endpoint"),
            MetricFamily.counter(
                    "ejections_total",
                    "Times an endpoint was ejected because connections to it fared badly.",
                    MetricFamilies::ejections,
                    "backend",
                    "endpoint"),
            MetricFamily.counter(
                    "endpoint_failures_total",
                    "What speaks against an endpoint, by kind: refused, timeout and unreachable connects, a reset before its first byte, silence past outlier.first-byte.",
                    MetricFamilies::endpointFailures,
                    "backend",
                    "endpoint",
                    "reason"),
            MetricFamily.counter(
                    "flow_paused_total",
                    "Times reading from a side was paused because the other side did not keep up.",
                    MetricFamilies::flowPaused,
                    "side"),
            MetricFamily.gauge(
                    "config_generation",
                    "The number of the configuration in force; it rises by one with every accepted change.",
                    (view, out) -> out.add(view.snapshot().generation())),
            MetricFamily.counter(
                    "config_reloads_total",
                    "Reloads of the configuration, by how they came out.",
                    MetricFamilies::configReloads,
                    "result"),
            MetricFamily.gauge(
                    "worker_connections", "Connections on a worker.", MetricFamilies::workerConnections, "worker"),
            MetricFamily.histogram(
                    "worker_turn_seconds",
                    "How long a turn of a worker's event loop spent on I/O events; waiting for them, tasks and deadlines excluded.",
                    MetricFamilies::workerTurns,
                    "worker"),
            MetricFamily.info(
                    "build_info", "The version that runs.", (view, out) -> out.add(1, view.version()), "version"),
            MetricFamily.counter(
                    "access_log_dropped_total",
                    "Lines of the access log that were dropped because they could not be written in time.",
                    (view, out) -> out.add(view.accessLogDropped())));

    private MetricFamilies() {}

    static MetricSnapshots collect(View view) {
        List<MetricSnapshot> snapshots = new ArrayList<>(ALL.size());
        for (MetricFamily family : ALL) {
            snapshots.add(family.collect(view));
        }
        return new MetricSnapshots(snapshots);
    }

    private static void connectionsActive(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            out.add(frontend.active(), frontend.name());
        }
    }

    private static void connectionsAccepted(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            out.add(view.sum(frontend, row -> row.accepted), frontend.name());
        }
    }

    private static void connectionsClosed(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            for (CloseReason reason : CloseReason.values()) {
                long closed = view.sum(frontend, row -> row.closed(reason));
                // The two usual ends are always there, so that a first look finds the metric.
                if (closed > 0 || reason == CloseReason.CLIENT_CLOSED || reason == CloseReason.ENDPOINT_CLOSED) {
                    out.add(closed, frontend.name(), reason.word());
                }
            }
        }
    }

    private static void connectionsRetired(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            for (CloseReason reason : CloseReason.values()) {
                for (RetireHow how : RetireHow.values()) {
                    long retired = view.sum(frontend, row -> row.retired(reason, how));
                    if (retired > 0) {
                        out.add(retired, frontend.name(), reason.word(), how.word());
                    }
                }
            }
        }
    }

    private static void connectionsCutMidExchange(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            out.add(view.sum(frontend, row -> row.cutMidExchange), frontend.name());
        }
    }

    private static void requests(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            for (Protocol protocol : Protocol.values()) {
                out.add(view.sum(frontend, row -> row.requests(protocol)), frontend.name(), protocol.word());
            }
        }
    }

    private static void connectionDuration(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            out.add(
                    view.histograms(worker -> worker.readFrontend(frontend.slot()), row -> row.duration),
                    Histogram.ofConnections(),
                    frontend.name());
        }
    }

    private static void receivedBytes(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            out.add(view.sum(frontend, row -> row.receivedBytes), frontend.name());
        }
    }

    private static void sentBytes(View view, MetricFamily.Points out) {
        for (FrontendCell frontend : view.frontends()) {
            out.add(view.sum(frontend, row -> row.sentBytes), frontend.name());
        }
    }

    private static void endpointInFlight(View view, MetricFamily.Points out) {
        eachEndpoint(view, (backend, endpoint) -> out.add(endpoint.cell().inFlight(), backend.name(), endpoint.name()));
    }

    private static void endpointState(View view, MetricFamily.Points out) {
        eachEndpoint(view, (backend, endpoint) -> {
            boolean draining = endpoint.cell().closed(Closed.DRAINING);
            boolean disabled = endpoint.cell().closed(Closed.DISABLED);
            state(out, backend, endpoint, "ready", !draining && !disabled);
            state(out, backend, endpoint, "draining", draining);
            state(out, backend, endpoint, "disabled", disabled);
            Fitness fitness = endpoint.cell().fitness();
            // Before its first check it is neither up nor down; without any it is up.
            boolean down = fitness.unfit(Unfit.DOWN);
            boolean unsure = fitness.unfit(Unfit.NOT_READY) || fitness.unfit(Unfit.UNCHECKED);
            state(out, backend, endpoint, "up", !down && !unsure);
            state(out, backend, endpoint, "down", down);
            state(out, backend, endpoint, "not-ready", fitness.unfit(Unfit.NOT_READY));
            state(out, backend, endpoint, "ejected", fitness.unfit(Unfit.EJECTED));
            state(out, backend, endpoint, "breaker-open", fitness.unfit(Unfit.BREAKER_OPEN));
            state(out, backend, endpoint, "pickable", endpoint.pickable());
        });
    }

    private static void state(
            MetricFamily.Points out, Backend backend, Endpoint endpoint, String state, boolean holds) {
        out.add(holds ? 1 : 0, backend.name(), endpoint.name(), state);
    }

    private static void endpointWeight(View view, MetricFamily.Points out) {
        eachEndpoint(view, (backend, endpoint) -> {
            out.add(endpoint.origin().configuredWeight(), backend.name(), endpoint.name(), "configured");
            if (endpoint.origin().runtimeWeight()) {
                out.add(endpoint.weight(), backend.name(), endpoint.name(), "runtime");
            }
            double effective = endpoint.effectiveWeight() / (double) Fitness.FULL_SHARE;
            out.add(effective, backend.name(), endpoint.name(), "effective");
        });
    }

    private static void endpointConnects(View view, MetricFamily.Points out) {
        eachEndpoint(view, (backend, endpoint) -> {
            for (ConnectResult result : ConnectResult.values()) {
                long connects = view.sum(endpoint, row -> row.connects(result));
                out.add(connects, backend.name(), endpoint.name(), result.word());
            }
        });
    }

    private static void endpointConnectDuration(View view, MetricFamily.Points out) {
        eachEndpoint(
                view,
                (backend, endpoint) -> out.add(
                        view.histograms(
                                worker -> worker.readEndpoint(endpoint.cell().slot()), row -> row.connectDuration),
                        Histogram.ofConnects(),
                        backend.name(),
                        endpoint.name()));
    }

    private static void endpointPicks(View view, MetricFamily.Points out) {
        eachEndpoint(
                view,
                (backend, endpoint) -> out.add(view.sum(endpoint, row -> row.picks), backend.name(), endpoint.name()));
    }

    private static void endpointRequests(View view, MetricFamily.Points out) {
        eachEndpoint(
                view,
                (backend, endpoint) ->
                        out.add(view.sum(endpoint, row -> row.requests), backend.name(), endpoint.name()));
    }

    private static void backendImbalance(View view, MetricFamily.Points out) {
        for (Backend backend : view.snapshot().backends()) {
            double connections = imbalance(backend, endpoint -> endpoint.cell().inFlight());
            out.add(connections, backend.name(), "connections");
            double requests =
                    imbalance(backend, endpoint -> view.recentRequests().getOrDefault(endpoint.cell(), 0L));
            out.add(requests, backend.name(), "requests");
        }
    }

    /** The greatest load over the mean, each by its weight; even where there is no load. */
    private static double imbalance(Backend backend, ToLongFunction<Endpoint> load) {
        long loads = 0;
        long weights = 0;
        double greatest = 0;
        for (Endpoint endpoint : backend.endpoints().all()) {
            if (endpoint.takesConnections()) {
                long own = load.applyAsLong(endpoint);
                loads += own;
                weights += endpoint.weight();
                greatest = Math.max(greatest, (double) own / endpoint.weight());
            }
        }
        return loads == 0 ? 1 : greatest * weights / loads;
    }

    private static void dialRetries(View view, MetricFamily.Points out) {
        for (Backend backend : view.snapshot().backends()) {
            out.add(view.sumOfBackend(backend.slot(), row -> row.retries), backend.name());
        }
    }

    private static void budgetExhausted(View view, MetricFamily.Points out) {
        for (Backend backend : view.snapshot().backends()) {
            out.add(view.sumOfBackend(backend.slot(), row -> row.budgetExhausted), backend.name());
        }
    }

    private static void backendPanic(View view, MetricFamily.Points out) {
        for (Backend backend : view.snapshot().backends()) {
            out.add(backend.cell().panic() ? 1 : 0, backend.name());
        }
    }

    private static void healthChecks(View view, MetricFamily.Points out) {
        eachEndpoint(view, (backend, endpoint) -> {
            Fitness fitness = endpoint.cell().fitness();
            out.add(fitness.checksPassed(), backend.name(), endpoint.name(), "pass");
            out.add(fitness.checksFailed(), backend.name(), endpoint.name(), "fail");
        });
    }

    private static void healthChecksLate(View view, MetricFamily.Points out) {
        eachEndpoint(
                view,
                (backend, endpoint) ->
                        out.add(endpoint.cell().fitness().checksLate(), backend.name(), endpoint.name()));
    }

    private static void lastCheck(View view, MetricFamily.Points out) {
        eachEndpoint(view, (backend, endpoint) -> {
            long millis = endpoint.cell().fitness().lastCheckMillis();
            if (millis != 0) {
                out.add(millis / 1_000.0, backend.name(), endpoint.name());
            }
        });
    }

    private static void ejections(View view, MetricFamily.Points out) {
        eachEndpoint(
                view,
                (backend, endpoint) -> out.add(endpoint.cell().fitness().ejections(), backend.name(), endpoint.name()));
    }

    private static void endpointFailures(View view, MetricFamily.Points out) {
        eachEndpoint(view, (backend, endpoint) -> {
            for (Failure failure : Failure.values()) {
                long failures = view.sum(endpoint, row -> row.failures(failure));
                out.add(failures, backend.name(), endpoint.name(), failure.word());
            }
        });
    }

    private static void flowPaused(View view, MetricFamily.Points out) {
        for (Side side : Side.values()) {
            long paused = 0;
            for (WorkerCounters worker : view.workers()) {
                paused += worker.paused(side);
            }
            out.add(paused, side.word());
        }
    }

    private static void configReloads(View view, MetricFamily.Points out) {
        for (ReloadCounts.Result result : ReloadCounts.Result.values()) {
            out.add(view.reloads().of(result), result.word());
        }
    }

    private static void workerConnections(View view, MetricFamily.Points out) {
        for (WorkerCounters worker : view.workers()) {
            out.add(worker.connections(), String.valueOf(worker.worker()));
        }
    }

    private static void workerTurns(View view, MetricFamily.Points out) {
        for (WorkerCounters worker : view.workers()) {
            out.add(List.of(worker.turns()), Histogram.ofTurns(), String.valueOf(worker.worker()));
        }
    }

    /** Something done for each endpoint. */
    private interface EndpointVisitor {
        void visit(Backend backend, Endpoint endpoint);
    }

    private static void eachEndpoint(View view, EndpointVisitor visitor) {
        for (Backend backend : view.snapshot().backends()) {
            for (Endpoint endpoint : backend.endpoints().all()) {
                visitor.visit(backend, endpoint);
            }
        }
    }
}
