package dev.tidegate.balance;

import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.Picker;

/** Makes the picker that carries a policy out. Any thread. */
public final class Pickers {
    private Pickers() {}

    /** A fresh picker, without a memory of earlier turns. */
    public static Picker of(BalancePolicy policy) {
        return switch (policy) {
            case ROUND_ROBIN -> new RoundRobinPicker();
            case RANDOM -> new RandomPicker();
            case LEAST_CONNECTIONS -> new LeastConnectionsPicker();
            case POWER_OF_TWO -> new PowerOfTwoPicker();
        };
    }
}
