package dev.tidegate.bench.sim;

import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.random.RandomGenerator;

/**
 * The few endpoints that one pick looks at, and how loaded each is: (in-flight + 1) / weight, as the production pickers have
 * it. Confined to one thread; used again for each pick.
 */
final class Look {
    private static final int BLIND_DRAWS = 4;

    private final int[] seen;
    private final double[] loads;
    private int count;
    private EndpointList endpoints;
    private Tried tried;
    private RandomGenerator random;

    Look(int most) {
        seen = new int[most];
        loads = new double[most];
    }

    void begin(EndpointList among, Tried without, RandomGenerator chance) {
        endpoints = among;
        tried = without;
        random = chance;
        count = 0;
    }

    int count() {
        return count;
    }

    int at(int place) {
        return seen[place];
    }

    double load(int place) {
        return loads[place];
    }

    /** Looks at that one, if it is a candidate that was not looked at. Answers whether it did. */
    boolean tryAdd(int index) {
        if (!isNew(index)) {
            return false;
        }
        seen[count] = index;
        loads[count++] = load(endpoints.at(index), 1);
        return true;
    }

    /** Draws one by weight and looks at it. A few blind draws first, as the production draw does. */
    void draw() {
        long total = endpoints.totalWeight();
        for (int i = 0; i < BLIND_DRAWS && total > 0; i++) {
            if (tryAdd(endpoints.indexOfShare(random.nextLong(total)))) {
                return;
            }
        }
        long sum = 0;
        int chosen = Picker.NONE;
        for (int i = 0; i < endpoints.size(); i++) {
            if (isNew(i)) {
                int weight = endpoints.at(i).weight();
                sum += weight;
                if (random.nextLong(sum) < weight) {
                    chosen = i;
                }
            }
        }
        if (chosen != Picker.NONE) {
            tryAdd(chosen);
        }
    }

    /** The place of the least loaded; ties by chance, evenly. */
    int least() {
        int best = 0;
        int alike = 1;
        for (int i = 1; i < count; i++) {
            if (loads[i] < loads[best]) {
                best = i;
                alike = 1;
            } else if (loads[i] == loads[best] && random.nextInt(++alike) == 0) {
                best = i;
            }
        }
        return best;
    }

    /** The one at that place has been picked: it is going to have one more. */
    void pick(int place) {
        loads[place] = load(endpoints.at(seen[place]), 2);
    }

    /** The one at that place is of no interest any more. */
    void drop(int place) {
        loads[place] = Double.POSITIVE_INFINITY;
    }

    private static double load(Endpoint endpoint, int more) {
        return (double) (endpoint.cell().inFlight() + more) / endpoint.weight();
    }

    private boolean isNew(int index) {
        if (!endpoints.candidate(index) || tried.contains(index)) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if (seen[i] == index) {
                return false;
            }
        }
        return true;
    }
}
