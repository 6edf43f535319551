package dev.tidegate.control;

import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Snapshot;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Endpoints that a reload has taken away. Their cells are kept while a connection is counted on them, or might yet be:
 * a dial that follows an older snapshot. Then they are forgotten, and their slots are free.
 *
 * <p>Confined to control's thread.
 */
final class Leaving {
    private final Cells cells;
    private final List<Worker> workers;
    /** Each with the generation of the first snapshot without it. */
    private final Map<EndpointCell, Long> without = new LinkedHashMap<>();

    Leaving(Cells cells, List<Worker> workers) {
        this.cells = cells;
        this.workers = workers;
    }

    /** Lets those be picked again that a snapshot about to be published has, and answers which they are. */
    Set<EndpointCell> takeBack(Snapshot next) {
        Set<EndpointCell> back = new HashSet<>(without.keySet());
        back.removeAll(cells.outside(next));
        back.forEach(cell -> cell.close(Closed.REMOVED, false));
        without.keySet().removeAll(back);
        return back;
    }

    /**
     * Takes those away that a snapshot just published does not have, and answers which they are. From now on nobody picks
     * them.
     */
    Set<EndpointCell> takeAway(Snapshot published) {
        Set<EndpointCell> gone = cells.outside(published);
        gone.removeAll(without.keySet());
        if (!gone.isEmpty()) {
            // A connection that read the snapshot before has picked by now, all in one turn of its loop: it shall not
            // find its only endpoint gone between the two. A worker that is stuck is not waited for.
            Loops.tryRun(workers, worker -> {}, Loops.PATIENCE);
            gone.forEach(cell -> {
                cell.close(Closed.REMOVED, true);
                without.put(cell, published.generation());
            });
        }
        return gone;
    }

    /** Forgets what nobody can be on any more. Answers whether some are left. */
    boolean forgetUnused() {
        Set<EndpointCell> unused = new HashSet<>();
        without.keySet().stream().filter(cell -> cell.inFlight() == 0).forEach(unused::add);
        if (!unused.isEmpty()) {
            AtomicLong oldest = new AtomicLong(Long.MAX_VALUE);
            int late = Loops.tryRun(
                    workers, worker -> oldest.accumulateAndGet(oldestDial(worker), Math::min), Loops.PATIENCE);
            if (late > 0) {
                return true;
            }
            unused.removeIf(cell -> oldest.get() < without.get(cell) || cell.inFlight() != 0);
            unused.forEach(this::forget);
        }
        return !without.isEmpty();
    }

    private void forget(EndpointCell cell) {
        Loops.tryRun(workers, worker -> worker.counters().forgetEndpoint(cell.slot()), Loops.PATIENCE);
        cells.forget(cell);
        without.remove(cell);
    }

    /** The oldest generation that a dial of that worker follows. */
    private static long oldestDial(Worker worker) {
        long[] oldest = {Long.MAX_VALUE};
        worker.forEachResident((Resident resident) -> oldest[0] = Math.min(oldest[0], resident.picksUnder()));
        return oldest[0];
    }
}
