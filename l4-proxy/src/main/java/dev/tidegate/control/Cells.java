package dev.tidegate.control;

import dev.tidegate.balance.Pickers;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Picker;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What outlives snapshots, by name: the same backend and address have the same cell, whatever a new configuration says
 * around them. Slots are handed out once each.
 *
 * <p>Confined to control's thread.
 */
final class Cells {
    private record EndpointKey(String backend, String address) {}

    private record PickerKey(String backend, BalancePolicy policy) {}

    private final Map<String, FrontendCell> frontends = new HashMap<>();
    private final Map<String, Integer> backends = new HashMap<>();
    private final Map<EndpointKey, EndpointCell> endpoints = new HashMap<>();
    private final Map<PickerKey, Picker> pickers = new HashMap<>();

    FrontendCell frontend(String name) {
        return frontends.computeIfAbsent(name, missing -> new FrontendCell(missing, frontends.size()));
    }

    int backendSlot(String name) {
        Integer slot = backends.get(name);
        if (slot == null) {
            slot = backends.size();
            backends.put(name, slot);
        }
        return slot;
    }

    EndpointCell endpoint(String backend, String address, List<InetSocketAddress> resolved) {
        EndpointKey key = new EndpointKey(backend, address);
        EndpointCell cell = endpoints.get(key);
        if (cell == null) {
            cell = new EndpointCell(backend, address, endpoints.size(), resolved);
            endpoints.put(key, cell);
        }
        return cell;
    }

    Picker picker(String backend, BalancePolicy policy) {
        return pickers.computeIfAbsent(new PickerKey(backend, policy), key -> Pickers.of(key.policy()));
    }
}
