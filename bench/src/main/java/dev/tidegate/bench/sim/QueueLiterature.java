package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntToDoubleFunction;

/**
 * Queues under random, round-robin and the power of d choices, against closed forms: rows S1 to S8 and S21. Service times
 * are exponential with mean 1, arrivals Poisson with λ for each server.
 *
 * <p>S2 to S4: Mitzenmacher (1996), Vvedenskaya, Dobrushin and Karpelevich (1996): n without bound. S6: the queue E_n/M/1.
 */
final class QueueLiterature implements Experiment {
    private static final double[] LOADS = {0.5, 0.7, 0.8, 0.9, 0.95, 0.99};
    private static final double[] RANDOM = {2.000, 3.333, 5.000, 10.00, 20.00, 100.0};
    private static final double[][] CHOICES = {
        {1.266, 1.615, 1.947, 2.614, 3.383, 5.432},
        {1.125, 1.357, 1.581, 2.028, 2.535, 3.858},
        {1.031, 1.168, 1.329, 1.633, 1.989, 2.902}
    };
    private static final int MANY = 100;
    /** Formulas hold for servers without number: near saturation 100 are not enough. */
    private static final int MORE = 1000;

    private static final double JOBS = 2e6;
    /** Near saturation what happened long ago lasts: more is needed for the same error. */
    private static final double JOBS_NEAR_SATURATION = 1e7;

    private static final double TOLERANCE = 0.03;
    private static final double LITTLE = 0.01;

    private double worstLittle;

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        random(section, scale);
        choices(section, scale, "S2", 2, CHOICES[0], TOLERANCE);
        choices(section, scale, "S3", 3, CHOICES[1], TOLERANCE);
        choices(section, scale, "S4", 5, CHOICES[2], 0.04);
        tails(section, scale);
        roundRobin(section, scale);
        central(section, scale);
        order(section, scale);
        section.add(Figure.atMost("S21", "L = λW: the greatest error of all these runs", LITTLE, worstLittle));
        chart(section);
        return section;
    }

    private Outcome run(Section section, int servers, double load, Choice choice, long jobs) {
        Outcome outcome =
                Farm.run(Farm.Plan.of(servers, load * servers, Work.exponential(1), choice.picker(), jobs), 1);
        section.count(outcome.events());
        worstLittle = Math.max(worstLittle, outcome.littleError());
        return outcome;
    }

    private static long jobs(Scale scale, double load) {
        return scale.jobs(load > 0.95 ? JOBS_NEAR_SATURATION : JOBS);
    }

    /** Within 3 %; near saturation within three standard errors, where those are more. */
    private static Figure near(String id, String what, double expected, double got, double error, double tolerance) {
        double errors = what.contains("0.99") ? 3 * error / expected : 0;
        return Figure.near(id, what, expected, got, error, Math.max(tolerance, errors));
    }

    private void random(Section section, Scale scale) {
        for (int i = 0; i < LOADS.length; i++) {
            Outcome outcome = run(section, MANY, LOADS[i], Choice.RANDOM, jobs(scale, LOADS[i]));
            section.add(near(
                    "S1",
                    "random, λ = " + LOADS[i] + ": E[T]",
                    RANDOM[i],
                    outcome.sojourn(),
                    outcome.sojournError(),
                    TOLERANCE));
        }
    }

    private void choices(Section section, Scale scale, String id, int draws, double[] expected, double tolerance) {
        Choice choice = draws == 2 ? Choice.POWER_OF_TWO : Choice.powerOf(draws);
        for (int i = 0; i < LOADS.length; i++) {
            section.add(choice(section, scale, id, choice, MANY, i, expected[i], tolerance));
            if (LOADS[i] > 0.9) {
                section.add(choice(section, scale, id, choice, MORE, i, expected[i], tolerance));
            }
        }
    }

    private Figure choice(
            Section section,
            Scale scale,
            String id,
            Choice choice,
            int servers,
            int load,
            double expected,
            double tolerance) {
        Outcome outcome = run(section, servers, LOADS[load], choice, jobs(scale, LOADS[load]));
        return near(
                id,
                "%s, n = %,d, λ = %s: E[T]".formatted(choice.name(), servers, LOADS[load]),
                expected,
                outcome.sojourn(),
                outcome.sojournError(),
                tolerance);
    }

    private void tails(Section section, Scale scale) {
        // On 100 the load of all together swings enough to fatten the tail: P(queue ≥ 6) is several times that of
        // servers without number; on 1,000 it is a tenth more.
        Outcome one = run(section, MORE, 0.9, Choice.RANDOM, scale.jobs(JOBS));
        Outcome two = run(section, MORE, 0.9, Choice.POWER_OF_TWO, scale.jobs(2 * JOBS));
        section.add(Figure.near(
                        "S5",
                        "n = 1,000, λ = 0.9, one choice: P(queue ≥ 5)",
                        0.590,
                        one.tail().at(5),
                        0.10))
                .add(Figure.near(
                        "S5", "two choices: P(queue ≥ 5)", 0.038, two.tail().at(5), 0.10))
                .add(Figure.near(
                        "S5", "one choice: P(queue ≥ 6)", 0.531, one.tail().at(6), 0.10))
                .add(Figure.near(
                        "S5", "two choices: P(queue ≥ 6)", 0.0013, two.tail().at(6), 0.10));
    }

    private void roundRobin(Section section, Scale scale) {
        int[] servers = {2, 4, 10};
        double[] expected = {7.588, 6.383, 5.660};
        for (int i = 0; i < servers.length; i++) {
            Outcome outcome = run(section, servers[i], 0.9, Choice.ROUND_ROBIN, scale.jobs(JOBS));
            section.add(roundRobin(servers[i], 0.9, expected[i], outcome));
        }
        // D/M/1 is n without bound: at 1,000 it is 0.05 % off.
        section.add(roundRobin(MORE, 0.9, 5.179, run(section, MORE, 0.9, Choice.ROUND_ROBIN, scale.jobs(JOBS))));
        section.add(roundRobin(10, 0.99, 55.15, run(section, 10, 0.99, Choice.ROUND_ROBIN, jobs(scale, 0.99))));
    }

    private static Figure roundRobin(int servers, double load, double expected, Outcome outcome) {
        return near(
                "S6",
                "round-robin, n = %d, λ = %s: E[T]".formatted(servers, load),
                expected,
                outcome.sojourn(),
                outcome.sojournError(),
                TOLERANCE);
    }

    private void central(Section section, Scale scale) {
        double[] loads = {0.7, 0.8, 0.9, 0.95, 0.99};
        double[] expected = {1.074, 1.205, 1.669, 2.651, 10.64};
        for (int i = 0; i < loads.length; i++) {
            section.add(central(section, 10, loads[i], expected[i], jobs(scale, loads[i])));
        }
        section.add(central(section, 100, 0.95, 1.101, scale.jobs(JOBS)));
    }

    private static Figure central(Section section, int servers, double load, double expected, long jobs) {
        CentralQueue.Result result = CentralQueue.run(servers, load, 1, jobs, 1);
        section.count(result.events());
        return near(
                "S7",
                "one queue, n = %d, λ = %s: E[T]".formatted(servers, load),
                expected,
                1 + result.queueing(),
                result.error(),
                TOLERANCE);
    }

    private void order(Section section, Scale scale) {
        long jobs = scale.jobs(JOBS);
        CentralQueue.Result central = CentralQueue.run(10, 0.9, 1, jobs, 1);
        section.count(central.events());
        IntToDoubleFunction choice =
                draws -> run(section, 10, 0.9, Choice.powerOf(draws), jobs).sojourn();
        section.add(Figure.rising(
                "S8",
                "E[T], n = 10, λ = 0.9: one queue, least-connections, power of 3, power-of-two, round-robin, random",
                "1.669 < … < ~2.03 < ~2.61 < 5.66 < 10",
                1 + central.queueing(),
                run(section, 10, 0.9, Choice.LEAST_CONNECTIONS, jobs).sojourn(),
                choice.applyAsDouble(3),
                run(section, 10, 0.9, Choice.POWER_OF_TWO, jobs).sojourn(),
                run(section, 10, 0.9, Choice.ROUND_ROBIN, jobs).sojourn(),
                run(section, 10, 0.9, Choice.RANDOM, jobs).sojourn()));
    }

    private static void chart(Section section) {
        LineChart chart = new LineChart(
                "Mean time in the system by load, service time 1, servers without number (formulas)", "λ", "E[T]");
        Series loads = Series.of(96, place -> place / 100.0);
        chart.line("random", loads, map(loads, load -> Math.min(12, 1 / (1 - load))));
        for (int draws : new int[] {2, 3, 5}) {
            chart.line("power of " + draws, loads, map(loads, load -> supermarket(load, draws)));
        }
        section.add("choices", chart);
    }

    /** The mean time in the system with d choices and servers without number. */
    static double supermarket(double load, int draws) {
        double sum = 0;
        double power = draws; // d^i
        double term = 1;
        while (term > 1e-12) {
            term = Math.pow(load, (power - draws) / (draws - 1));
            sum += term;
            power *= draws;
        }
        return sum;
    }

    private static Series map(Series xs, DoubleUnaryOperator of) {
        return Series.of(xs.size(), place -> of.applyAsDouble(xs.at(place)));
    }
}
