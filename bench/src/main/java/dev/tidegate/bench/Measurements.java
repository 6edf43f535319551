package dev.tidegate.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** What every subject did in every trial of every round. Confined to the thread that compares. */
final class Measurements {
    private final Map<Trial, Map<String, List<LoadResult>>> results = new LinkedHashMap<>();

    /** Adds the next round's result. */
    void add(Trial trial, String subject, LoadResult result) {
        rounds(trial, subject).add(result);
    }

    Spread spread(Trial trial, String subject, ToDoubleFunction<LoadResult> value) {
        return Spread.of(rounds(trial, subject).stream().mapToDouble(value));
    }

    /** The subject's value over the reference's of the same round; unknown where either was not measured. */
    Spread ratio(Trial trial, String subject, String reference, ToDoubleFunction<LoadResult> value) {
        List<LoadResult> own = rounds(trial, subject);
        List<LoadResult> other = rounds(trial, reference);
        return Spread.of(IntStream.range(0, Math.min(own.size(), other.size()))
                .mapToDouble(round -> value.applyAsDouble(own.get(round)) / value.applyAsDouble(other.get(round))));
    }

    /** Every single result of a trial, by subject. */
    Map<String, List<LoadResult>> rounds(Trial trial, List<String> subjects) {
        Map<String, List<LoadResult>> bySubject = new LinkedHashMap<>();
        subjects.forEach(subject -> bySubject.put(subject, rounds(trial, subject)));
        return bySubject;
    }

    List<LoadResult> rounds(Trial trial, String subject) {
        return results.computeIfAbsent(trial, key -> new LinkedHashMap<>())
                .computeIfAbsent(subject, key -> new ArrayList<>());
    }
}
