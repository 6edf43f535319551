package dev.tidegate.control;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Target;
import dev.tidegate.model.BornRetiring;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.RetireOrder;
import dev.tidegate.model.Snapshot;
import dev.tidegate.worker.Resident;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The drains in force, by what they are about: each retires the connections that are there, and those that slip in.
 *
 * <p>Written by control's thread; {@link #of} and {@link #process} may be asked by any.
 */
final class Drains {
    private final Operations operations;
    private volatile Map<Target, Operation> inForce = Map.of(); // writer: control

    Drains(Operations operations) {
        this.operations = operations;
    }

    /** The drain of that; null when it is not drained, or was already when the process started. */
    Operation of(Target target) {
        return inForce.get(target);
    }

    /** Whether the process is drained. */
    boolean process() {
        return inForce.containsKey(new Target.Process());
    }

    /**
     * Begins one, in place of one that is there.
     *
     * @param target what is drained; an endpoint by its address, which outlives a reload
     * @param name the same as operators know it
     */
    Operation begin(Target target, String name, RetirePlan plan, Snapshot snapshot) {
        Operation before = inForce.get(target);
        Predicate<EndpointCell> endpoints = endpoints(target);
        RetireOrder order = new RetireOrder(CloseReason.DRAIN, endpoints);
        Operation operation = operations.create(Operation.Kind.DRAIN, name, order, plan);
        put(target, operation);
        bear(snapshot);
        operations.spread(operation, residents(target, endpoints));
        if (before != null) {
            operations.cancel(before);
        }
        return operation;
    }

    /** Takes one back. Answers whether there was one. */
    boolean end(Target target, Snapshot snapshot) {
        Operation operation = inForce.get(target);
        if (operation == null) {
            return false;
        }
        put(target, null);
        bear(snapshot);
        operations.cancel(operation);
        return true;
    }

    /** Forgets drains of what a snapshot does not have any more: its connections are retired as removed. */
    void follow(Snapshot snapshot) {
        for (Target target : inForce.keySet()) {
            if (!exists(target, snapshot)) {
                end(target, snapshot);
            }
        }
        bear(snapshot);
    }

    private static boolean exists(Target target, Snapshot snapshot) {
        if (target instanceof Target.OfFrontend frontend) {
            return snapshot.frontend(frontend.frontend()) != null;
        }
        String backend = target instanceof Target.OfBackend whole
                ? whole.backend()
                : target instanceof Target.OfEndpoint one ? one.backend() : null;
        if (backend == null) {
            return true;
        }
        return snapshot.backends().stream()
                .filter(each -> each.name().equals(backend))
                .anyMatch(each -> !(target instanceof Target.OfEndpoint one)
                        || each.endpoints().all().stream()
                                .anyMatch(endpoint -> endpoint.cell().address().equals(one.endpoint())));
    }

    /** Connections that come to a frontend that is drained, alone or with the process, are to leave again. */
    private void bear(Snapshot snapshot) {
        Operation whole = inForce.get(new Target.Process());
        for (var frontend : snapshot.frontends()) {
            FrontendCell cell = frontend.cell();
            // However late it comes: it has its grace, though the drain's deadline may be over.
            BornRetiring process = born(whole, frontend.lifetime().graceNanos());
            BornRetiring own = born(inForce.get(new Target.OfFrontend(cell.name())), 0);
            cell.setBornRetiring(own == null ? process : own);
        }
    }

    private static BornRetiring born(Operation drain, long graceNanos) {
        if (drain == null || drain.plan().mode() == DrainMode.WAIT) {
            return null;
        }
        return new BornRetiring(drain.order(), drain.lastNanos(), graceNanos);
    }

    /** Endpoints are known by address here, since that outlives a reload. */
    private static Predicate<EndpointCell> endpoints(Target target) {
        if (target instanceof Target.OfEndpoint one) {
            return cell -> cell != null
                    && cell.backend().equals(one.backend())
                    && cell.address().equals(one.endpoint());
        }
        if (target instanceof Target.OfBackend all) {
            return cell -> cell != null && cell.backend().equals(all.backend());
        }
        return cell -> true;
    }

    private static Predicate<Resident> residents(Target target, Predicate<EndpointCell> endpoints) {
        if (target instanceof Target.OfFrontend frontend) {
            return resident -> resident.frontend().name().equals(frontend.frontend());
        }
        return resident -> endpoints.test(resident.endpoint());
    }

    private void put(Target target, Operation operation) {
        Map<Target, Operation> next = new HashMap<>(inForce);
        if (operation == null) {
            next.remove(target);
        } else {
            next.put(target, operation);
        }
        inForce = Map.copyOf(next);
    }
}
