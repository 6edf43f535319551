package dev.tidegate.control;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.RebalanceConfig;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Snapshot;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Retires what endpoints have above their fair shares: when an operator asks for it, and, where the configuration says so,
 * when an endpoint joins or comes back. One at a time for a backend: a later one takes the place of what the one before has
 * not told its clients yet. When the endpoints change under one that runs, it is worked out anew.
 *
 * <p>Confined to control's thread.
 */
final class Rebalances {
    private final InForce inForce;
    private final Operations operations;
    private final Events events;
    private final List<Worker> workers;
    private final Map<String, Operation> latest = new HashMap<>(); // by backend
    /** By backend, endpoints that take connections, with their weights; null before the first look. */
    private Map<String, Map<EndpointCell, Integer>> taking;

    Rebalances(InForce inForce, Operations operations, Events events, List<Worker> workers) {
        this.inForce = inForce;
        this.operations = operations;
        this.events = events;
        this.workers = List.copyOf(workers);
    }

    /** What one would retire now, besides what is leaving already. Changes nothing. */
    Set<Resident> excess(Backend backend) {
        return Excess.of(backend, settings(backend).maxSharePercent(), workers);
    }

    /** Begins one, even if there is nothing to retire; over the configured spread if none is given. */
    Operation begin(Backend backend, Optional<Duration> spread) {
        supersede(backend);
        return begin(backend, spread.orElse(settings(backend).spread()), excess(backend));
    }

    /**
     * Looks which endpoints take connections now that did not at the last look, and the other way round, and does what is to
     * be done about it. To be called whenever that may have changed; the first call only looks.
     */
    void follow() {
        Snapshot snapshot = inForce.snapshot();
        Map<String, Map<EndpointCell, Integer>> before = taking;
        taking = new HashMap<>();
        snapshot.backends().forEach(backend -> taking.put(backend.name(), taking(backend)));
        latest.keySet().retainAll(taking.keySet());
        if (before != null) {
            for (Backend backend : snapshot.backends()) {
                follow(backend, before.getOrDefault(backend.name(), Map.of()), taking.get(backend.name()));
            }
        }
    }

    private void follow(Backend backend, Map<EndpointCell, Integer> was, Map<EndpointCell, Integer> is) {
        if (was.equals(is)) {
            return;
        }
        boolean joined = !was.keySet().containsAll(is.keySet());
        Operation running = running(backend);
        if (joined && settings(backend).onJoin()) {
            again(backend, settings(backend).spread());
        } else if (running != null) {
            again(backend, running.plan().spread());
        }
    }

    private void again(Backend backend, Duration spread) {
        supersede(backend);
        Set<Resident> excess = excess(backend);
        if (!excess.isEmpty()) {
            begin(backend, spread, excess);
        }
    }

    private Operation begin(Backend backend, Duration spread, Set<Resident> excess) {
        Operation operation = operations.begin(
                Operation.Kind.REBALANCE,
                "backends/" + backend.name(),
                CloseReason.REBALANCE,
                new RetirePlan(DrainMode.GRACEFUL, Optional.of(spread.plus(grace(backend))), spread),
                endpoint -> true,
                excess::contains);
        latest.put(backend.name(), operation);
        events.emit(
                "rebalance-started",
                "rebalance of backend " + backend.name() + " begun, connections " + excess.size(),
                Commands.fields(operation));
        return operation;
    }

    private void supersede(Backend backend) {
        Operation running = running(backend);
        if (running != null) {
            operations.cancelUntold(running);
        }
    }

    private Operation running(Backend backend) {
        Operation operation = latest.get(backend.name());
        return operation != null && operation.running() ? operation : null;
    }

    /** The longest of the frontends that lead there. */
    private Duration grace(Backend backend) {
        return Duration.ofNanos(inForce.snapshot().frontends().stream()
                .filter(frontend -> frontend.backend().name().equals(backend.name()))
                .mapToLong(frontend -> frontend.lifetime().graceNanos())
                .max()
                .orElse(0));
    }

    private RebalanceConfig settings(Backend backend) {
        return inForce.config().backends().stream()
                .filter(config -> config.name().equals(backend.name()))
                .map(BackendConfig::rebalance)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no backend \"" + backend.name() + "\""));
    }

    private static Map<EndpointCell, Integer> taking(Backend backend) {
        Map<EndpointCell, Integer> taking = new HashMap<>();
        backend.endpoints().all().stream()
                .filter(Endpoint::sound)
                .forEach(endpoint -> taking.put(endpoint.cell(), endpoint.weight()));
        return taking;
    }
}
