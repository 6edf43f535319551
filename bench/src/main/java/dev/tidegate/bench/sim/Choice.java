package dev.tidegate.bench.sim;

import dev.tidegate.balance.Pickers;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;

/** Pickers by the names that tables show. Immutable. */
record Choice(String name, IntFunction<Picker> picker) {
    static final Choice ROUND_ROBIN = of(BalancePolicy.ROUND_ROBIN);
    static final Choice RANDOM = of(BalancePolicy.RANDOM);
    static final Choice LEAST_CONNECTIONS = of(BalancePolicy.LEAST_CONNECTIONS);
    static final Choice POWER_OF_TWO = of(BalancePolicy.POWER_OF_TWO);
    static final Choice LAST_RELEASED = new Choice("last-released (ours)", i -> new LastReleasedPicker(1, 1));

    /** The production picker of that policy. */
    static Choice of(BalancePolicy policy) {
        return new Choice(policy.name().toLowerCase(Locale.ROOT).replace('_', '-'), i -> Pickers.of(policy));
    }

    /** The least loaded of so many distinct draws, and nothing kept from one pick to the next. */
    static Choice powerOf(int draws) {
        return new Choice("power of " + draws, i -> new RecallPicker(draws, 0));
    }

    /** Two draws that may be the same, as some programs have it: a control, to compare with what was published. */
    static Choice powerOfTwoThatMayCoincide() {
        return new Choice("power of two, draws may coincide", i -> new Coinciding());
    }

    private static final class Coinciding implements Picker {
        @Override
        public int pick(EndpointList endpoints, Tried tried, RandomGenerator random) {
            int first = random.nextInt(endpoints.size());
            int second = random.nextInt(endpoints.size());
            return endpoints.at(second).cell().inFlight()
                            < endpoints.at(first).cell().inFlight()
                    ? second
                    : first;
        }
    }
}
