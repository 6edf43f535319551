package dev.tidegate.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What the operator and fate did in a run, and when, for who looks for the cause of a failure. */
final class Notes {
    private final SimNetwork network;
    private final List<String> lines = new ArrayList<>();

    Notes(SimNetwork network) {
        this.network = network;
    }

    void add(String what) {
        lines.add("%6d ms %s".formatted(TimeUnit.NANOSECONDS.toMillis(network.now()), what));
    }

    /** Whether nothing has happened yet. */
    boolean isEmpty() {
        return lines.isEmpty();
    }

    @Override
    public String toString() {
        return String.join("\n", lines);
    }
}
