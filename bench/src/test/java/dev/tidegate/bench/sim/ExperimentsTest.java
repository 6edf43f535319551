package dev.tidegate.bench.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The figures that take no more than a moment, at a part of the seeds and jobs of bench/sim. DocumentTest runs them whole. */
class ExperimentsTest {
    private static final Scale PART = new Scale(10, 0.25);

    /** What docs/simulation.md says to be missed, and why: nobody sees everything, and servers are not without number. */
    private static final Set<String> MISSED = Set.of(
            "8 balancers: p99 over that of one least-connections that sees all",
            "two choices: P(queue ≥ 6)",
            "power-of-two, n = 100, λ = 0.99: E[T]",
            "power of 3, n = 100, λ = 0.95: E[T]",
            "power of 3, n = 100, λ = 0.99: E[T]",
            "power of 5, n = 100, λ = 0.95: E[T]",
            "power of 5, n = 100, λ = 0.99: E[T]");

    @ParameterizedTest
    @ValueSource(strings = {"four-policies", "fan-out", "outage"})
    @Tag("slow")
    void figuresComeOutAsPublished(String experiment) {
        assertEquals(List.of(), missed(Catalogue.ALL.get(experiment).run(PART)));
    }

    @Test
    @Tag("slow")
    void shortQueuesAreAsTheirFormulasSay() {
        long jobs = 200_000;
        Outcome random = run(10, 0.7, Choice.RANDOM, jobs);
        Outcome two = run(100, 0.7, Choice.POWER_OF_TWO, jobs);
        Outcome turns = run(4, 0.7, Choice.ROUND_ROBIN, jobs);
        assertEquals(1 / 0.3, random.sojourn(), 0.1);
        assertEquals(QueueLiterature.supermarket(0.7, 2), two.sojourn(), 0.05);
        assertTrue(two.sojourn() < turns.sojourn() && turns.sojourn() < random.sojourn());
        for (Outcome each : List.of(random, two, turns)) {
            assertTrue(each.littleError() < 0.01, "L and λW differ by " + each.littleError());
        }
    }

    private static Outcome run(int servers, double load, Choice choice, long jobs) {
        return Farm.run(Farm.Plan.of(servers, load * servers, Work.exponential(1), choice.picker(), jobs), 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSameSeedIsTheSameRun(boolean sharing) {
        Farm.Plan plan = Farm.Plan.of(8, 1000, Work.mixed(0.004, 0.040, 0.05), Choice.POWER_OF_TWO.picker(), 5_000)
                .withWaits();
        Farm.Plan chosen = sharing ? plan.withSharing() : plan;
        assertEquals(Farm.run(chosen, 3).sojourn(), Farm.run(chosen, 3).sojourn());
    }

    @Test
    @Tag("slow")
    void ourPickerQueuesLittleMoreThanLeastConnections() {
        double ours = ChapterLoad.run(Choice.LAST_RELEASED, 1, 10).p99().mean();
        double least = ChapterLoad.run(Choice.LEAST_CONNECTIONS, 1, 10).p99().mean();
        double two = ChapterLoad.run(Choice.POWER_OF_TWO, 1, 10).p99().mean();
        assertTrue(ours <= 1.25 * least, "p99 " + ours + " ms, least-connections " + least + " ms");
        assertTrue(ours < two, "p99 " + ours + " ms, power-of-two " + two + " ms");
    }

    static Set<String> experiments() {
        return Catalogue.ALL.keySet();
    }

    static List<Figure> missed(Section section) {
        return section.missed().stream()
                .filter(figure -> !MISSED.contains(figure.what()))
                .collect(Collectors.toList());
    }
}
