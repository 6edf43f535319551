package dev.tidegate.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Runs trials on subjects that stand already, in turns, round after round. Confined to the thread that compares.
 */
final class Rounds {
    private static final Duration KNEE_WINDOW = Duration.ofSeconds(2);
    private static final Duration WARMUP_NATIVE = Duration.ofSeconds(1);

    private final LoadProcess load;
    private final List<Subject> subjects;
    private final List<Trial> trials;
    private final List<String> problems;
    private final Measurements measured = new Measurements();
    private double kneePerSecond; // what the slowest does in a closed loop

    /** @param problems what goes wrong is added there */
    Rounds(LoadProcess load, List<Subject> subjects, List<Trial> trials, List<String> problems) {
        this.load = load;
        this.subjects = subjects;
        this.trials = trials;
        this.problems = problems;
    }

    Measurements measured() {
        return measured;
    }

    /** How many seconds of load each JVM gets, over all trials; the others get one second a trial. */
    void warm(int seconds) throws IOException {
        for (Subject subject : subjects) {
            Duration window = subject.isJvm() ? Duration.ofSeconds(seconds).dividedBy(trials.size()) : WARMUP_NATIVE;
            for (Trial trial : trials) {
                System.err.printf("warming %s, %s, %d ms%n", subject.name(), trial.word(), window.toMillis());
                // The rate is not known yet, and messages at a rate take the same path as others.
                Scenario scenario = trial.scenario().paced() ? Scenario.SMALL : trial.scenario();
                run(subject, LoadSpec.of(scenario, subject.address(), window).withConnections(trial.connections()));
            }
        }
    }

    /** Looks for what the slowest can do, where a trial needs it. */
    void findKnee() throws IOException {
        if (trials.stream().noneMatch(trial -> trial.scenario().paced())) {
            return;
        }
        kneePerSecond = Double.MAX_VALUE;
        for (Subject subject : subjects) {
            LoadResult result = run(subject, LoadSpec.of(Scenario.SMALL, subject.address(), KNEE_WINDOW));
            kneePerSecond = Math.min(kneePerSecond, result.perSecond());
        }
    }

    /** Messages a second of a trial that has a rate. */
    int rate(Trial trial) {
        return Math.max(1, (int) (kneePerSecond * trial.share() / 100));
    }

    void run(int rounds, Duration window) throws IOException {
        for (int round = 1; round <= rounds; round++) {
            for (Trial trial : trials) {
                List<Subject> order = new ArrayList<>(subjects);
                Collections.rotate(order, 1 - round); // nobody is always first, or always behind the same one
                for (Subject subject : order) {
                    LoadResult result = run(
                            subject,
                            LoadSpec.of(trial.scenario(), subject.address(), window)
                                    .withConnections(trial.connections())
                                    .withPid(subject.pid())
                                    .withRate(rate(trial)));
                    measured.add(trial, subject.name(), result);
                    tell(round, rounds, trial, subject, result);
                }
            }
        }
    }

    private static void tell(int round, int rounds, Trial trial, Subject subject, LoadResult result) {
        Scenario scenario = trial.scenario();
        System.err.printf(
                "round %d of %d, %s, %s: %,.0f %s%s/s%s%n",
                round,
                rounds,
                trial.word(),
                subject.name(),
                result.perSecond() / scenario.perUnit(),
                scenario.unit(),
                scenario.plural(),
                result.cpuMicros() < 0 ? "" : String.format(", %.2f µs", result.cpuMicrosPer(scenario.perUnit())));
    }

    private LoadResult run(Subject subject, LoadSpec spec) throws IOException {
        LoadResult result = load.run(spec);
        subject.checkAlive();
        if (result.errors() > 0) {
            problems.add(subject.name() + ", " + spec.scenario().word() + ": " + result.errors() + " errors, first: "
                    + result.firstError());
        } else if (result.count() == 0) {
            problems.add(subject.name() + ", " + spec.scenario().word() + ": nothing got through");
        }
        return result;
    }
}
