package dev.tidegate.balance;

import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.random.RandomGenerator;

/**
 * Picks the least loaded of all candidates; ties by chance, evenly, or by the shares of those in a slow start. Without state;
 * any thread.
 */
final class LeastConnectionsPicker implements Picker {
    @Override
    public int pick(EndpointList endpoints, Tried tried, RandomGenerator random) {
        int best = NONE;
        int alike = 0; // the shares of all that are as little loaded as the best
        for (int i = 0; i < endpoints.size(); i++) {
            Endpoint endpoint = endpoints.at(i);
            if (!Draw.isCandidate(endpoints, i, tried)) {
                continue;
            }
            int compared = best == NONE ? -1 : Load.compare(endpoint, endpoints.at(best));
            int share = endpoint.cell().fitness().share();
            if (compared < 0) {
                best = i;
                alike = share;
            } else if (compared == 0) {
                alike += share;
                if (random.nextInt(alike) < share) {
                    best = i;
                }
            }
        }
        return best;
    }
}
