package dev.tidegate.bench.sim;

import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.random.RandomGenerator;

/**
 * Draws some, adds those that it remembers, picks the least loaded of them, and remembers the least loaded of what it has
 * seen for the next pick. What is remembered is only who, never how loaded. With a memory of none it is the power of d
 * choices.
 *
 * <p>A trial, to compare with. Mitzenmacher, Prabhakar and Shah, "Load Balancing with Memory" (2002). Confined to one thread.
 */
final class RecallPicker implements Picker {
    private final int draws;
    private final Look look;
    private final int[] kept;
    private int remembered;

    /**
     * @param draws distinct ones, and none of those remembered
     * @param recalls that are remembered from one pick to the next
     */
    RecallPicker(int draws, int recalls) {
        this.draws = draws;
        look = new Look(draws + recalls);
        kept = new int[recalls];
    }

    @Override
    public int pick(EndpointList endpoints, Tried tried, RandomGenerator random) {
        look.begin(endpoints, tried, random);
        for (int i = 0; i < remembered; i++) {
            look.tryAdd(kept[i]);
        }
        for (int i = 0; i < draws; i++) {
            look.draw();
        }
        if (look.count() == 0) {
            return NONE;
        }
        int place = look.least();
        int picked = look.at(place);
        look.pick(place);
        remember();
        return picked;
    }

    private void remember() {
        remembered = Math.min(kept.length, look.count());
        for (int i = 0; i < remembered; i++) {
            int best = look.least();
            kept[i] = look.at(best);
            look.drop(best);
        }
    }
}
