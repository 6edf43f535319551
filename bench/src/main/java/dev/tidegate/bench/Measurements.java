package dev.tidegate.bench;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** What every subject did in every scenario of every round. Confined to the thread that compares. */
final class Measurements {
    private final Map<Scenario, Map<String, List<LoadResult>>> results = new EnumMap<>(Scenario.class);

    /** Adds the next round's result. */
    void add(Scenario scenario, String subject, LoadResult result) {
        rounds(scenario, subject).add(result);
    }

    Spread spread(Scenario scenario, String subject, ToDoubleFunction<LoadResult> value) {
        return Spread.of(rounds(scenario, subject).stream().mapToDouble(value));
    }

    /** The subject's value over the reference's of the same round; unknown where either was not measured. */
    Spread ratio(Scenario scenario, String subject, String reference, ToDoubleFunction<LoadResult> value) {
        List<LoadResult> own = rounds(scenario, subject);
        List<LoadResult> other = rounds(scenario, reference);
        return Spread.of(IntStream.range(0, Math.min(own.size(), other.size()))
                .mapToDouble(round -> value.applyAsDouble(own.get(round)) / value.applyAsDouble(other.get(round))));
    }

    List<LoadResult> rounds(Scenario scenario, String subject) {
        return results.computeIfAbsent(scenario, key -> new LinkedHashMap<>())
                .computeIfAbsent(subject, key -> new ArrayList<>());
    }
}
