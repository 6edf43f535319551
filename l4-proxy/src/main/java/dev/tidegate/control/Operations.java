package dev.tidegate.control;

import dev.tidegate.lifetime.Ticker;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.RetireOrder;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Begins, watches and takes back what retires connections. What has ended is remembered for a while.
 *
 * <p>Confined to control's thread, but for {@link #all}.
 */
final class Operations {
    /** So many that have ended are remembered. */
    private static final int REMEMBERED = 200;

    private final List<Worker> workers;
    private final Ticker ticker;
    private final InstantSource clock;
    private final Consumer<Operation> ended;
    private final Map<String, Operation> byId = new LinkedHashMap<>();
    private volatile List<Operation> published = List.of(); // writer: control
    private long lastId;

    /**
     * @param workers all of them
     * @param ticker the workers' time
     * @param clock what operators read
     * @param ended is told of each operation that is done or cancelled
     */
    Operations(List<Worker> workers, Ticker ticker, InstantSource clock, Consumer<Operation> ended) {
        this.workers = List.copyOf(workers);
        this.ticker = ticker;
        this.clock = clock;
        this.ended = ended;
    }

    /**
     * Retires all connections of a kind.
     *
     * @param kind what it is
     * @param target what it is about, for operators
     * @param reason what connections that it ends are closed for
     * @param plan when
     * @param covers on which endpoints it holds, for connections that are dialing
     * @param who which connections; asked on their workers
     */
    Operation begin(
            Operation.Kind kind,
            String target,
            CloseReason reason,
            RetirePlan plan,
            Predicate<EndpointCell> covers,
            Predicate<Resident> who) {
        Operation operation = create(kind, target, new RetireOrder(reason, covers), plan);
        spread(operation, who);
        return operation;
    }

    /** An operation that covers nobody yet. */
    Operation create(Operation.Kind kind, String target, RetireOrder order, RetirePlan plan) {
        Operation operation =
                new Operation("op-" + ++lastId, kind, target, plan, order, clock.instant(), ticker.nanoTime());
        byId.put(operation.id(), operation);
        forgetOldest();
        publish();
        return operation;
    }

    /** Gives its order to those connections, and waits until all workers have done so, but not for a stuck one. */
    void spread(Operation operation, Predicate<Resident> who) {
        long now = ticker.nanoTime();
        Loops.tryRun(
                workers,
                worker -> worker.forEachResident(resident -> {
                    if (who.test(resident)) {
                        RetirePlan.Times times = operation.plan().draw(now, worker.random());
                        resident.retire(operation.order(), times.startNanos(), times.hardNanos());
                    }
                }),
                Loops.PATIENCE);
        operation.begunWith(operation.order().joined());
    }

    /**
     * Takes an operation back: connections that have not begun to end stay. Does nothing to one that is not running.
     */
    void cancel(Operation operation) {
        int stayed = take(operation.order(), resident -> true);
        if (operation.running()) {
            operation.leftAlone(stayed);
            operation.cancelled();
            publish();
            ended.accept(operation);
        }
    }

    /**
     * Takes an operation back from connections whose clients have not been told to leave. Those that have leave as if it had
     * not been taken back, with its deadline. Does nothing to one that is not running.
     */
    void cancelUntold(Operation operation) {
        if (operation.running()) {
            RetireOrder order = operation.order();
            int stayed = take(
                    order, resident -> resident.under(order) && !resident.info().told());
            operation.leftAlone(stayed);
            operation.cancelled();
            publish();
            ended.accept(operation);
        }
    }

    /** Resets all that it covers, now. */
    void abort(Operation operation) {
        Loops.tryRun(
                workers,
                worker -> worker.forEachResident(resident -> {
                    if (resident.under(operation.order())) {
                        resident.abort(operation.order().reason());
                    }
                }),
                Loops.PATIENCE);
    }

    /** Lets some of the connections that it covers stay; it goes on with the others. */
    void release(Operation operation, Predicate<Resident> who) {
        operation.leftAlone(take(operation.order(), who));
    }

    /**
     * Takes an order back from those connections, and waits until all workers have done so, but not for a stuck one.
     *
     * @return how many had it and stay
     */
    private int take(RetireOrder order, Predicate<Resident> who) {
        AtomicInteger stayed = new AtomicInteger();
        Loops.tryRun(
                workers,
                worker -> worker.forEachResident(resident -> {
                    if (who.test(resident) && resident.under(order)) {
                        resident.stay(order);
                        if (!resident.under(order)) {
                            stayed.getAndIncrement();
                        }
                    }
                }),
                Loops.PATIENCE);
        return stayed.get();
    }

    /** Has other limits hold for the open connections of those frontends. */
    void relimit(Map<FrontendCell, Lifetime> limits) {
        if (!limits.isEmpty()) {
            Loops.tryRun(
                    workers,
                    worker -> worker.forEachResident(resident -> {
                        Lifetime now = limits.get(resident.frontend());
                        if (now != null) {
                            resident.relimit(now);
                        }
                    }),
                    Loops.PATIENCE);
        }
    }

    /** Looks which have come to their end. Answers whether some have not. */
    boolean settle() {
        boolean running = false;
        boolean changed = false;
        for (Operation operation : byId.values()) {
            if (operation.running()) {
                if (operation.order().remaining() == 0) {
                    operation.done();
                    changed = true;
                    ended.accept(operation);
                } else {
                    operation.look(ticker.nanoTime());
                    running = true;
                }
            }
        }
        if (changed) {
            publish();
        }
        return running;
    }

    /** All that are known, the newest first. Any thread. */
    List<Operation> all() {
        return published;
    }

    private void forgetOldest() {
        int over = byId.size() - REMEMBERED;
        if (over > 0) {
            List<String> old = byId.values().stream()
                    .filter(operation -> !operation.running())
                    .limit(over)
                    .map(Operation::id)
                    .toList();
            byId.keySet().removeAll(old);
        }
    }

    private void publish() {
        List<Operation> newestFirst = new ArrayList<>(byId.values());
        Collections.reverse(newestFirst);
        published = List.copyOf(newestFirst);
    }
}
