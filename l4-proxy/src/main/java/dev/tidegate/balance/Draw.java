package dev.tidegate.balance;

import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.random.RandomGenerator;

/**
 * Draws a candidate by weight. A few blind draws come first: they find a candidate in O(log n) while most endpoints are
 * pickable. Only when they fail are the candidates counted one by one.
 *
 * <p>Any thread.
 */
final class Draw {
    private static final int BLIND_DRAWS = 4;

    private Draw() {}

    /**
     * Draws one.
     *
     * @param except an index not to draw, or {@link Picker#NONE}
     * @return an index, or {@link Picker#NONE} when there is no candidate
     */
    static int byWeight(EndpointList endpoints, Tried tried, int except, RandomGenerator random) {
        long total = endpoints.totalWeight();
        if (total == 0) {
            return Picker.NONE;
        }
        for (int i = 0; i < BLIND_DRAWS; i++) {
            int index = endpoints.indexOfShare(random.nextLong(total));
            // Who has only part of its share is let go with the chance that it lacks, which makes the draw one by
            // effective weight.
            if (index != except && isCandidate(endpoints, index, tried) && inShare(endpoints.at(index), random)) {
                return index;
            }
        }
        return amongCandidates(endpoints, tried, except, random);
    }

    private static int amongCandidates(EndpointList endpoints, Tried tried, int except, RandomGenerator random) {
        // Weighted reservoir of one: each candidate takes the place with the chance weight / (sum so far). One pass, so
        // that an endpoint that fills up meanwhile cannot leave the draw without an answer.
        long sum = 0;
        int chosen = Picker.NONE;
        for (int i = 0; i < endpoints.size(); i++) {
            Endpoint endpoint = endpoints.at(i);
            if (i != except && isCandidate(endpoints, i, tried)) {
                long weight = endpoint.effectiveWeight();
                sum += weight;
                if (random.nextLong(sum) < weight) {
                    chosen = i;
                }
            }
        }
        return chosen;
    }

    private static boolean inShare(Endpoint endpoint, RandomGenerator random) {
        int share = endpoint.cell().fitness().share();
        return share == Fitness.FULL_SHARE || random.nextInt(Fitness.FULL_SHARE) < share;
    }

    static boolean isCandidate(EndpointList endpoints, int index, Tried tried) {
        return endpoints.candidate(index) && !tried.contains(index);
    }
}
