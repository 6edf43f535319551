package dev.tidegate.cli;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;

/**
 * Which process this one takes over from, and which one takes over from it. Immutable.
 *
 * @param takeOver whether it takes over from one that runs
 * @param arguments what it was started with, to be started anew; empty: nobody takes over from it
 * @param askedToStop is done when this one is to stop, though it has not started yet
 * @param whenHandedOver told the id of the process that has taken over
 */
record Succession(
        boolean takeOver, List<String> arguments, CompletableFuture<Void> askedToStop, LongConsumer whenHandedOver) {
    /** None before it, none after it. */
    static final Succession NONE = new Succession(false, List.of(), new CompletableFuture<>(), pid -> {});

    /** Copies the list. */
    Succession {
        arguments = List.copyOf(arguments);
    }
}
