package dev.tidegate.balance;

import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.random.RandomGenerator;

/** Picks the least loaded of all candidates; ties by chance, evenly. Without state; any thread. */
final class LeastConnectionsPicker implements Picker {
    @Override
    public int pick(EndpointList endpoints, Tried tried, RandomGenerator random) {
        int best = NONE;
        int alike = 0;
        for (int i = 0; i < endpoints.size(); i++) {
            Endpoint endpoint = endpoints.at(i);
            if (!Draw.isCandidate(endpoints, i, tried)) {
                continue;
            }
            int compared = best == NONE ? -1 : Load.compare(endpoint, endpoints.at(best));
            if (compared < 0) {
                best = i;
                alike = 1;
            } else if (compared == 0 && random.nextInt(++alike) == 0) {
                best = i;
            }
        }
        return best;
    }
}
