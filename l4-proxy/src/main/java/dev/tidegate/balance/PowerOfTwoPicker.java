package dev.tidegate.balance;

import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.random.RandomGenerator;

/**
 * Draws two distinct candidates by weight and picks the less loaded; ties by chance. Distinct, since drawing the same one
 * twice makes the draw blind: of two endpoints the idle one would get three quarters only.
 *
 * <p>Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (1996). Without state; any thread.
 */
final class PowerOfTwoPicker implements Picker {
    @Override
    public int pick(EndpointList endpoints, Tried tried, RandomGenerator random) {
        int first = Draw.byWeight(endpoints, tried, NONE, random);
        if (first == NONE) {
            return NONE;
        }
        int second = Draw.byWeight(endpoints, tried, first, random);
        if (second == NONE) {
            return first;
        }
        int compared = Load.compare(endpoints.at(first), endpoints.at(second));
        if (compared == 0) {
            return random.nextBoolean() ? first : second;
        }
        return compared < 0 ? first : second;
    }
}
