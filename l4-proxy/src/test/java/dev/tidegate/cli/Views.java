package dev.tidegate.cli;

import dev.tidegate.admin.view.AgeBucket;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.BreakerView;
import dev.tidegate.admin.view.CheckView;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.EjectionView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.HealthView;
import dev.tidegate.admin.view.LifetimeView;
import dev.tidegate.admin.view.ListenerView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.Page;
import dev.tidegate.admin.view.StatusView;
import dev.tidegate.admin.view.WeightView;
import dev.tidegate.admin.view.WorkerView;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What a process of two endpoints and one frontend shows. */
final class Views {
    private static final Instant STARTED = Instant.parse("2026-11-29T10:00:00Z");

    private Views() {}

    static StatusView status(OperationView... operations) {
        return new StatusView(
                "1.2.3",
                4711,
                "ready",
                STARTED,
                274_000_000,
                12,
                "/etc/tidegate/tidegate.yaml",
                "epoll",
                "io_uring is not available",
                List.of(new WorkerView(0, 21), new WorkerView(1, 20)),
                41,
                10_000,
                "info",
                Map.of("applied", 3L),
                List.of(new AgeBucket(60_000L, 41), new AgeBucket(null, 0)),
                List.of(operations));
    }

    static Page<FrontendView> frontends(long accepted) {
        return new Page<>(
                List.of(new FrontendView(
                        "edge",
                        "ready",
                        "web",
                        List.of(new ListenerView("127.0.0.1:0", "127.0.0.1:8443")),
                        "auto",
                        10_000,
                        new LifetimeView(3_600_000L, 0.2, null, null, 300_000, 5_000, 2_000),
                        41,
                        accepted,
                        Map.of("tcp", accepted),
                        5_000_000 + accepted * 1_000,
                        7_000_000_000L,
                        Map.of("max-age", 5L),
                        Map.of("quiet", 5L),
                        null)),
                1);
    }

    static EndpointView endpoint(String name, String state, int inFlight, long picks) {
        return new EndpointView(
                name,
                "web",
                "10.0.0.1:80",
                List.of("10.0.0.1:80"),
                "config",
                state,
                true,
                state.equals("ready"),
                null,
                new WeightView(1, 5, 5),
                100.0,
                null,
                inFlight,
                picks,
                Map.of("ok", picks - 3, "refused", 2L, "timeout", 1L, "cancelled", 7L),
                Map.of(),
                null,
                null,
                null,
                null);
    }

    /** The same, ready, with something that speaks against it or not. */
    static EndpointView judged(
            String name, String reason, HealthView health, EjectionView ejection, BreakerView breaker, double share) {
        EndpointView plain = endpoint(name, "ready", 4, 50);
        return new EndpointView(
                name,
                plain.backend(),
                plain.address(),
                plain.addresses(),
                plain.source(),
                plain.state(),
                health == null || health.state().equals("up"),
                reason == null,
                reason,
                plain.weight(),
                share,
                8,
                plain.inFlight(),
                plain.picks(),
                plain.connects(),
                plain.failures(),
                health,
                ejection,
                breaker,
                null);
    }

    /** What checks say, the last being that. */
    static HealthView health(String state, long heldMs, String why) {
        String result = state.equals("up") ? "pass" : state.equals("not-ready") ? state : "fail";
        return new HealthView(state, STARTED, 0, 2, heldMs, List.of(new CheckView(STARTED, 3, result, why, state)));
    }

    static EjectionView ejection() {
        return new EjectionView(Instant.parse("2026-11-29T10:00:30.123Z"), "5 failures in a row, the last: refused", 1);
    }

    static Page<BackendView> backends(EndpointView... endpoints) {
        return backends(false, false, endpoints);
    }

    static Page<BackendView> backends(boolean panic, boolean spreading, EndpointView... endpoints) {
        return new Page<>(
                List.of(new BackendView(
                        "web", "power-of-two", "ready", 1, panic, spreading, 41, 0, 0, List.of(endpoints))),
                1);
    }

    static OperationView operation(String state, int remaining) {
        boolean running = state.equals("running");
        return new OperationView(
                "op-7",
                "drain",
                "backends/web/endpoints/a",
                state,
                30,
                remaining,
                30 - remaining,
                0,
                running ? 1.5 : 0,
                running ? 185_000L : null,
                running ? 40_000L : null,
                running ? STARTED : null,
                "graceful",
                STARTED);
    }

    static Page<ConnectionView> connections() {
        return new Page<>(
                List.of(
                        connection("c-1", "127.0.0.1:40000", "a", 7_500_000),
                        connection("c-2", "127.0.0.1:40001", null, 900)),
                41);
    }

    private static ConnectionView connection(String id, String client, String endpoint, long ageMs) {
        return new ConnectionView(
                id,
                "edge",
                "127.0.0.1:8443",
                client,
                "web",
                endpoint,
                endpoint == null ? null : "10.0.0.1:80",
                "http1",
                endpoint == null ? "dialing" : "relaying",
                endpoint == null ? null : "drain",
                endpoint != null,
                endpoint == null ? 61_000L : null,
                ageMs,
                500,
                12,
                3_000,
                5_000_000,
                0,
                12);
    }
}
