package dev.tidegate.listener;

import dev.tidegate.connection.ConnectionFactory;
import java.util.List;

/**
 * Which worker a new connection goes to: the one with the fewest, and of those with as few the one that accepted it, so
 * that nothing crosses a thread without need. Unlike a listening socket for each worker, among which the kernel spreads by
 * a hash, this leaves no worker without a connection while another has two: with few, long-lived connections the hash
 * piles several on one core.
 *
 * <p>Any thread.
 */
final class Placement {
    private final List<ConnectionFactory> workers;

    Placement(List<ConnectionFactory> workers) {
        this.workers = List.copyOf(workers);
    }

    /**
     * Chooses, as seen from worker {@code own}, and counts the connection on the worker chosen: at once, so that another
     * listener that accepts at the same moment sees it.
     */
    ConnectionFactory take(int own) {
        while (true) {
            ConnectionFactory best = choose(own);
            if (best != null) {
                return best;
            }
        }
    }

    /** Null when another was quicker. */
    private ConnectionFactory choose(int own) {
        ConnectionFactory best = workers.get(own);
        int least = best.context().worker().load();
        for (int i = 0; i < workers.size() && least > 0; i++) {
            int load = workers.get(i).context().worker().load();
            if (load < least) {
                least = load;
                best = workers.get(i);
            }
        }
        return best.context().worker().tryAddLoad(least) ? best : null;
    }
}
