package dev.tidegate.control;

import dev.tidegate.balance.Pickers;
import dev.tidegate.config.RetryBudgetConfig;
import dev.tidegate.dial.RetryBudget;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Retries;
import dev.tidegate.model.Snapshot;
import java.net.InetSocketAddress;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What outlives snapshots, by name: the same backend and address have the same cell, whatever a new configuration says
 * around them. No two cells that live at a time have the same slot. Frontends and backends are kept for good, since their
 * totals are; endpoints until they are forgotten.
 *
 * <p>Confined to control's thread.
 */
final class Cells implements OpenConnections {
    private record EndpointKey(String backend, String address) {}

    private record PickerKey(String backend, BalancePolicy policy) {}

    private final Map<String, FrontendCell> frontends = new HashMap<>();

    private record Budget(RetryBudgetConfig config, Retries retries) {}

    private final Map<String, BackendCell> backends = new HashMap<>();
    private final Map<String, Budget> budgets = new HashMap<>();
    private final Map<EndpointKey, EndpointCell> endpoints = new HashMap<>();
    private final BitSet endpointSlots = new BitSet();
    private final Map<PickerKey, Picker> pickers = new HashMap<>();

    FrontendCell frontend(String name) {
        return frontends.computeIfAbsent(name, missing -> new FrontendCell(missing, frontends.size()));
    }

    /** Every frontend there ever was. */
    List<FrontendCell> allFrontends() {
        return List.copyOf(frontends.values());
    }

    BackendCell backend(String name) {
        return backends.computeIfAbsent(name, missing -> new BackendCell(missing, backends.size()));
    }

    /** The budget of a backend: the same one as long as its settings are. */
    Retries retries(String backend, Optional<RetryBudgetConfig> config, long nowNanos) {
        if (config.isEmpty()) {
            budgets.remove(backend);
            return Retries.UNBOUNDED;
        }
        RetryBudgetConfig settings = config.get();
        Budget budget = budgets.get(backend);
        if (budget == null || !budget.config().equals(settings)) {
            budget = new Budget(settings, new RetryBudget(settings.ratioPercent(), settings.minPerSecond(), nowNanos));
            budgets.put(backend, budget);
        }
        return budget.retries();
    }

    EndpointCell endpoint(String backend, String address, List<InetSocketAddress> resolved) {
        EndpointKey key = new EndpointKey(backend, address);
        EndpointCell cell = endpoints.get(key);
        if (cell == null) {
            int slot = endpointSlots.nextClearBit(0);
            endpointSlots.set(slot);
            cell = new EndpointCell(backend, address, slot, resolved);
            endpoints.put(key, cell);
        }
        return cell;
    }

    Picker picker(String backend, BalancePolicy policy) {
        return pickers.computeIfAbsent(new PickerKey(backend, policy), key -> Pickers.of(key.policy()));
    }

    @Override
    public int ofFrontend(String frontend) {
        FrontendCell cell = frontends.get(frontend);
        return cell == null ? 0 : cell.active();
    }

    @Override
    public int ofEndpoint(String backend, String address) {
        EndpointCell cell = endpoints.get(new EndpointKey(backend, address));
        return cell == null ? 0 : cell.inFlight();
    }

    /** The cells of endpoints that a snapshot does not have. */
    Set<EndpointCell> outside(Snapshot snapshot) {
        Set<EndpointCell> outside = new HashSet<>(endpoints.values());
        snapshot.backends().forEach(backend -> backend.endpoints().all().forEach(e -> outside.remove(e.cell())));
        return outside;
    }

    /** Drops pickers that a snapshot does not use: a policy that comes back begins anew. */
    void dropPickersOutside(Snapshot snapshot) {
        Set<Picker> used = snapshot.backends().stream().map(Backend::picker).collect(Collectors.toSet());
        pickers.values().removeIf(picker -> !used.contains(picker));
    }

    /** Drops a cell that nobody can count on any more; its slot may be another's from now on. */
    void forget(EndpointCell cell) {
        endpoints.remove(new EndpointKey(cell.backend(), cell.address()));
        endpointSlots.clear(cell.slot());
    }
}
