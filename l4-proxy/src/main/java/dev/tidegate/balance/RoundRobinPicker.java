package dev.tidegate.balance;

import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.IdentityHashMap;
import java.util.random.RandomGenerator;

/**
 * Picks in turn, by weight, smoothly: with weights 5, 1, 1 the order is a a b a c a a and not a a a a a b c. At each pick
 * every candidate's credit rises by its weight; the richest is picked and pays the sum of the weights. The credits of
 * those that sit out stay as they are. (The algorithm is nginx's smooth weighted round-robin, of 2012.)
 *
 * <p>One turn for all workers, so that three connections over three endpoints meet three endpoints: guarded by the
 * picker's own lock, once a connection. Any thread.
 */
final class RoundRobinPicker implements Picker {
    private EndpointList list; // guarded by this
    private long[] credits = {}; // guarded by this

    @Override
    public synchronized int pick(EndpointList endpoints, Tried tried, RandomGenerator random) {
        follow(endpoints);
        int best = NONE;
        long sum = 0;
        for (int i = 0; i < endpoints.size(); i++) {
            Endpoint endpoint = endpoints.at(i);
            if (!Draw.isCandidate(endpoints, i, tried)) {
                continue;
            }
            credits[i] += endpoint.effectiveWeight();
            sum += endpoint.effectiveWeight();
            if (best == NONE || credits[i] > credits[best]) {
                best = i;
            }
        }
        if (best != NONE) {
            credits[best] -= sum;
        }
        return best;
    }

    /** Takes over another list; who was there before, by cell, keeps the credit. */
    private void follow(EndpointList endpoints) {
        if (list == endpoints) {
            return;
        }
        long[] taken = new long[endpoints.size()];
        if (list != null) {
            IdentityHashMap<EndpointCell, Long> before = new IdentityHashMap<>();
            for (int i = 0; i < credits.length; i++) {
                before.put(list.at(i).cell(), credits[i]);
            }
            for (int i = 0; i < taken.length; i++) {
                taken[i] = before.getOrDefault(endpoints.at(i).cell(), 0L);
            }
        }
        list = endpoints;
        credits = taken;
    }
}
