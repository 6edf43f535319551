package dev.tidegate.control;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.worker.Resident;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Tells connections what a publication means for them: retires those of endpoints and frontends that were taken away, lets
 * them stay when those come back in time, and has changed limits hold for those that are open.
 *
 * <p>Confined to control's thread.
 */
final class Departures {
    private final Operations operations;
    private final Map<EndpointCell, Operation> ofEndpoints = new HashMap<>();
    private final Map<FrontendCell, Operation> ofFrontends = new HashMap<>();

    Departures(Operations operations) {
        this.operations = operations;
    }

    /**
     * Does what a publication asks for.
     *
     * @param plan how connections leave; null: those of endpoints stay until they end by themselves
     * @return the operation that retires connections of endpoints; null when there is none
     */
    Operation settle(Publisher.Moves moves, RetirePlan plan) {
        operations.relimit(moves.limitsChanged());
        ofEndpoints.values().removeIf(operation -> operation.order().remaining() == 0);
        ofFrontends.values().removeIf(operation -> operation.order().remaining() == 0);
        for (EndpointCell back : moves.endpointsBack()) {
            takeBack(ofEndpoints, back, resident -> resident.endpoint() == back);
        }
        for (FrontendCell back : moves.frontendsBack()) {
            takeBack(ofFrontends, back, resident -> resident.frontend() == back);
        }
        Operation frontends = retireFrontends(moves.frontendsGone());
        Operation endpoints = plan == null ? null : retireEndpoints(moves.endpointsGone(), plan);
        return endpoints == null ? frontends : endpoints;
    }

    /** Lets connections stay of what has come back; with the last of what an operation took away, it is taken back itself. */
    private <C> void takeBack(Map<C, Operation> away, C back, Predicate<Resident> who) {
        Operation operation = away.remove(back);
        if (operation == null) {
            return;
        }
        if (away.containsValue(operation)) {
            operations.release(operation, who);
        } else {
            operations.cancel(operation);
        }
    }

    private Operation retireFrontends(Set<FrontendCell> gone) {
        if (gone.isEmpty()) {
            return null;
        }
        String names = gone.stream()
                .map(cell -> "frontends/" + cell.name())
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .collect(Collectors.joining(" "));
        Operation operation = operations.begin(
                Operation.Kind.REMOVE,
                names,
                CloseReason.DRAIN,
                Reloader.PLAN,
                endpoint -> true,
                resident -> gone.contains(resident.frontend()));
        gone.forEach(cell -> ofFrontends.put(cell, operation));
        return operation;
    }

    private Operation retireEndpoints(Set<EndpointCell> gone, RetirePlan plan) {
        if (gone.isEmpty()) {
            return null;
        }
        String names = gone.stream()
                .map(cell -> "backends/" + cell.backend() + "/endpoints/" + cell.address())
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .limit(10)
                .collect(Collectors.joining(" "));
        Operation operation = operations.begin(
                Operation.Kind.REMOVE,
                gone.size() > 10 ? names + " and more" : names,
                CloseReason.ENDPOINT_REMOVED,
                plan,
                gone::contains,
                resident -> gone.contains(resident.endpoint()));
        gone.forEach(cell -> ofEndpoints.put(cell, operation));
        return operation;
    }
}
