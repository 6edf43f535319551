package dev.tidegate.bench.sim;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What a balancer of connections has to do with: lives with a heavy tail (Pareto, shape 1.5), each connection with a rate of
 * its own, endpoints that work on all of them at once. Imbalance is the fullest endpoint over the mean.
 */
final class HeavyLives implements Experiment {
    private static final int ENDPOINTS = 10;
    private static final double LIFE_SECONDS = 60;
    private static final double CONNECTIONS = 1000;
    private static final double SHAPE = 1.5;
    private static final double[] LOADS = {0.5, 0.7, 0.9};
    private static final List<Choice> CHOICES = List.of(
            Choice.RANDOM, Choice.ROUND_ROBIN, Choice.POWER_OF_TWO, Choice.LAST_RELEASED, Choice.LEAST_CONNECTIONS);

    /** Imbalances, means over time. */
    private record Result(double ofConnections, double ofBytes, long events) {}

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        section.head("1,000 connections on 10 endpoints", "fullest / mean, connections", "fullest / mean, bytes/s");
        double[] byConnections = new double[CHOICES.size()];
        for (int i = 0; i < CHOICES.size(); i++) {
            Result result = new Crowd(CHOICES.get(i)).run(scale.jobs(1e6));
            byConnections[i] = result.ofConnections();
            section.count(result.events())
                    .row(
                            CHOICES.get(i).name(),
                            String.format(Locale.ROOT, "%.3f", result.ofConnections()),
                            String.format(Locale.ROOT, "%.3f", result.ofBytes()));
        }
        section.end();
        sharing(section, scale);
        return section.add(Figure.rising(
                "S1–S8",
                "Pareto lives, imbalance of connections: least-connections, power-of-two, random",
                "least < two < random",
                byConnections[4],
                byConnections[2],
                byConnections[0]));
    }

    private static void sharing(Section section, Scale scale) {
        section.head("E[T] with processor sharing, Pareto work", "λ = 0.5", "0.7", "0.9");
        double[][] slowdowns = new double[CHOICES.size()][LOADS.length];
        for (int i = 0; i < CHOICES.size(); i++) {
            String[] cells = new String[LOADS.length + 1];
            cells[0] = CHOICES.get(i).name();
            for (int k = 0; k < LOADS.length; k++) {
                Farm.Plan plan = Farm.Plan.of(
                                ENDPOINTS,
                                LOADS[k] * ENDPOINTS,
                                Work.pareto(1, SHAPE),
                                CHOICES.get(i).picker(),
                                scale.jobs(2e6))
                        .withSharing();
                Outcome outcome = Farm.run(plan, 1);
                section.count(outcome.events());
                slowdowns[i][k] = outcome.sojourn();
                cells[k + 1] = Figure.number(outcome.sojourn());
            }
            section.row(cells);
        }
        section.end();
        // M/G/1 with processor sharing does not care for the distribution: 1/(1 − λ), whatever the tail. The mean of
        // two million Pareto(1.5) draws itself is off by some percent.
        section.add(Figure.near("S1", "Pareto work, sharing, random, λ = 0.5: E[T]", 2.0, slowdowns[0][0], 0.10))
                .add(Figure.near("S1", "the same, λ = 0.7", 3.333, slowdowns[0][1], 0.10))
                .add(Figure.rising(
                        "S8",
                        "Pareto work, sharing, λ = 0.9: least-connections, ours, power-of-two, round-robin, random",
                        "rising",
                        slowdowns[4][2],
                        slowdowns[3][2],
                        slowdowns[2][2],
                        slowdowns[1][2],
                        slowdowns[0][2]));
    }

    /** Connections that come by chance and last, whoever else is there. */
    private static final class Crowd {
        private final Timeline timeline = new Timeline();
        private final Chance arrivals = new Chance(1, 1);
        private final Chance lives = new Chance(1, 2);
        private final Chance rates = new Chance(1, 3);
        private final Work life = Work.pareto(LIFE_SECONDS, SHAPE);
        private final Balancer balancer;
        private final double[] bytes = new double[ENDPOINTS];
        private double connectionSum;
        private double byteSum;
        private long looks;
        private long left;

        Crowd(Choice choice) {
            balancer = new Balancer(ENDPOINTS, choice.picker().apply(0), new Chance(1, 4));
        }

        Result run(long connections) {
            left = connections;
            timeline.after(0, this::arrive);
            timeline.at(Math.round(10 * LIFE_SECONDS * Work.SECOND), this::look);
            timeline.run();
            return new Result(connectionSum / looks, byteSum / looks, timeline.happened());
        }

        private void arrive() {
            long now = timeline.nanoTime();
            int endpoint = balancer.give(now);
            double rate = rates.exponential(1);
            bytes[endpoint] += rate;
            timeline.after(life.nanos(lives), () -> {
                bytes[endpoint] -= rate;
                balancer.done(endpoint, now, timeline.nanoTime());
            });
            if (--left > 0) {
                timeline.after(
                        Math.round(arrivals.exponential(LIFE_SECONDS / CONNECTIONS * Work.SECOND)), this::arrive);
            } else {
                timeline.stop();
            }
        }

        private void look() {
            double[] connections = new double[ENDPOINTS];
            Arrays.setAll(connections, i -> balancer.endpoints().at(i).cell().inFlight());
            connectionSum += Population.imbalance(connections);
            byteSum += Population.imbalance(bytes);
            looks++;
            timeline.after((long) Work.SECOND, this::look);
        }
    }
}
