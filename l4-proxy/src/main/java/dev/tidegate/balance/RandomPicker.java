package dev.tidegate.balance;

import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.random.RandomGenerator;

/** Picks by chance, by weight. Without state; any thread. */
final class RandomPicker implements Picker {
    @Override
    public int pick(EndpointList endpoints, Tried tried, RandomGenerator random) {
        return Draw.byWeight(endpoints, tried, NONE, random);
    }
}
