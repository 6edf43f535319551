package dev.tidegate.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What makes a balancer larger, and what its cost is told by then. */
enum Growth {
    /** Kept connections. */
    CONNECTIONS("small", "How the CPU of a small request grows with kept connections", 10, 100, 1_000, 9_000),
    /** Endpoints of one backend. */
    ENDPOINTS("connect", "How the CPU of a connection grows with endpoints", 2, 10, 100, 1_000, 10_000),
    /** Threads that carry connections, both cores theirs and the load's. */
    WORKERS("small", "How the CPU of a small request grows with workers", 1, 2);

    /**
     * What was measured, by size. Confined to the thread that compares.
     *
     * @param trials the load, which is larger for a larger size where connections grow
     */
    record Grown(Growth growth, Map<Integer, Trial> trials, Map<Integer, Measurements> bySize) {
        /** CPU microseconds a unit. */
        Spread cost(String subject, int size) {
            Trial trial = trials.get(size);
            return bySize.get(size)
                    .spread(
                            trial,
                            subject,
                            result -> result.cpuMicrosPer(trial.scenario().perUnit()));
        }

        /** Every single result: by size, then by subject, round after round. */
        Map<Integer, Map<String, List<LoadResult>>> rounds(List<String> subjects) {
            Map<Integer, Map<String, List<LoadResult>>> rounds = new LinkedHashMap<>();
            bySize.forEach((size, measured) -> rounds.put(size, measured.rounds(trials.get(size), subjects)));
            return rounds;
        }
    }

    private final String trial;
    private final String title;

    @SuppressWarnings("ImmutableEnumChecker") // not handed out, and not written again
    private final int[] sizes;

    Growth(String trial, String title, int... sizes) {
        this.trial = trial;
        this.title = title;
        this.sizes = sizes;
    }

    /** The one that {@code word} names; throws {@link IllegalArgumentException} saying which there are. */
    static Growth named(String word) {
        return Arrays.stream(values())
                .filter(growth -> growth.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("--grow: \"" + word + "\" is not known; use one of "
                        + Arrays.stream(values()).map(Growth::word).collect(Collectors.joining(", "))));
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    String title() {
        return title;
    }

    List<Integer> sizes() {
        return Arrays.stream(sizes).boxed().toList();
    }

    String unit() {
        return Trial.named(trial).scenario().unit();
    }

    /** The most connections that are open at a time. */
    private int mostConnections() {
        return this == CONNECTIONS ? sizes[sizes.length - 1] : 0;
    }

    /** Every subject of every size, those of one size side by side; the larger ones later, each freshly started. */
    Grown measure(
            List<String> names, Stage stage, int warmupSeconds, int rounds, Duration window, List<String> problems)
            throws IOException, InterruptedException {
        LoadProcess load = stage.startLoad(this == ENDPOINTS);
        SubjectStarter starter = this == WORKERS
                ? stage.starterOnBothCores(load, mostConnections())
                : stage.starter(load, mostConnections());
        Map<Integer, Measurements> bySize = new LinkedHashMap<>();
        Map<Integer, Trial> trials = new LinkedHashMap<>();
        for (int size : sizes) {
            System.err.printf("%s: %,d%n", word(), size);
            List<Subject> subjects = new ArrayList<>();
            for (String name : names) {
                subjects.add(starter.start(name, shape(size)));
            }
            Trial sized = Trial.named(trial).withConnections(this == CONNECTIONS ? size : 0);
            Rounds turns = new Rounds(load, subjects, List.of(sized), problems);
            turns.warm(warmupSeconds);
            turns.run(rounds, window);
            bySize.put(size, turns.measured());
            trials.put(size, sized);
            for (Subject subject : subjects) {
                stage.children().stop(subject.process());
            }
        }
        return new Grown(this, trials, bySize);
    }

    private Shape shape(int size) {
        return switch (this) {
            case CONNECTIONS -> Shape.SMALLEST;
            case ENDPOINTS -> new Shape(1, size);
            case WORKERS -> new Shape(size, 1);
        };
    }
}
