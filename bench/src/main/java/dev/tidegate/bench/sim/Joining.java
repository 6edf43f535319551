package dev.tidegate.bench.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * How fast connections that come and go fill an endpoint that joins: row S15. In turn, with lives of L on average:
 * (λL/n)(1 − e^(−t/L)); when none is older than T, it has its share after T.
 */
final class Joining implements Experiment {
    private static final int ENDPOINTS = 4;
    private static final double LIFE_SECONDS = 600;
    private static final double JOINS_SECONDS = 2 * LIFE_SECONDS;
    private static final double TOLERANCE = 0.03;
    private static final Work ANY = chance -> 1;

    @Override
    public Section run(Scale scale) {
        int clients = (int) scale.jobs(40_000);
        Population lives = new Population(
                new Population.Plan(
                        clients,
                        ENDPOINTS,
                        Choice.ROUND_ROBIN,
                        Work.exponential(LIFE_SECONDS),
                        Lifetimes.NONE,
                        ANY,
                        LIFE_SECONDS),
                1);
        Population limited = new Population(
                new Population.Plan(
                        clients, ENDPOINTS, Choice.ROUND_ROBIN, null, Lifetimes.of(LIFE_SECONDS, 0), ANY, LIFE_SECONDS),
                1);
        double[] byLives = shares(lives, clients);
        double[] byLimit = shares(limited, clients);
        return new Section()
                .count(lives.timeline().happened() + limited.timeline().happened())
                .add(Figure.near(
                        "S15", "mean life 600 s: share of its part after 600 s", 0.632, byLives[600], TOLERANCE))
                .add(Figure.near("S15", "the same after 1,800 s", 0.950, byLives[1800], TOLERANCE))
                .add(Figure.near("S15", "max-age 600 s, no jitter: after 300 s", 0.500, byLimit[300], TOLERANCE))
                .add(Figure.near("S15", "the same after 600 s", 1, byLimit[600], TOLERANCE));
    }

    /** Its part of a fair share, second by second after it has joined. */
    private static double[] shares(Population population, int clients) {
        List<Double> shares = new ArrayList<>();
        population.takes(ENDPOINTS - 1, false);
        population.at(JOINS_SECONDS, () -> population.takes(ENDPOINTS - 1, true));
        population.every(
                1,
                JOINS_SECONDS,
                now -> shares.add(population.connections(ENDPOINTS - 1) * (double) ENDPOINTS / clients));
        population.runUntil(JOINS_SECONDS + 3 * LIFE_SECONDS + 1);
        return shares.stream().mapToDouble(Double::doubleValue).toArray();
    }
}
