package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import dev.tidegate.model.Lifetime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * HTTP/2 clients that keep one connection for as long as they are let, and send a few requests or very many over it; an
 * endpoint that was away when they came joins ten minutes later.
 */
final class StickyClients implements Experiment {
    private static final int ENDPOINTS = 8;
    private static final int CLIENTS = 2_000;
    private static final double OPENING_SECONDS = 10;
    private static final double JOINS_SECONDS = 600;
    private static final int END_SECONDS = 3 * 3600;
    private static final int[] SHOWN_MINUTES = {9, 15, 20, 30, 60, 180};
    /** A client asks 10 times a second on average; one in a hundred more than 70 times. */
    private static final Work RATE = Work.pareto(10, 1.5);

    private record Limit(String name, Lifetime lifetime) {}

    private static final List<Limit> LIMITS = List.of(
            new Limit("no limit", Lifetimes.NONE),
            new Limit("max-age 30 min, jitter 0 %", Lifetimes.of(1800, 0)),
            new Limit("max-age 30 min, jitter 20 %", Lifetimes.of(1800, 0.2)),
            new Limit("max-age 10 min, jitter 20 %", Lifetimes.of(600, 0.2)));

    /**
     * What came of one limit.
     *
     * @param imbalances of connections, minute by minute
     * @param served requests of all the time that all endpoints were there, by endpoint
     * @param mostInASecond connections that were opened anew in one second
     */
    private record Result(Series imbalances, Series served, long mostInASecond, long reopened, long events) {
        double servedImbalance() {
            return served.max() / served.mean();
        }
    }

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        List<String> head = new ArrayList<>(List.of("fullest / mean, connections"));
        for (int minute : SHOWN_MINUTES) {
            head.add(minute + " min");
        }
        head.addAll(List.of("requests served in 170 min, busiest / mean", "reconnects", "most in a second"));
        section.head(head.toArray(String[]::new));
        LineChart chart = new LineChart(
                "2,000 sticky clients, 8 endpoints, one of which joins after 10 min",
                "minutes",
                "the fullest above the mean, %");
        List<Result> results = new ArrayList<>();
        for (Limit limit : LIMITS) {
            Result result = run(limit.lifetime());
            results.add(result);
            section.count(result.events());
            List<String> cells = new ArrayList<>(List.of(limit.name()));
            for (int minute : SHOWN_MINUTES) {
                cells.add(String.format(Locale.ROOT, "%.3f", result.imbalances().at(minute)));
            }
            cells.add(String.format(Locale.ROOT, "%.3f", result.servedImbalance()));
            cells.add(String.format(Locale.ROOT, "%,d", result.reopened()));
            cells.add(String.format(Locale.ROOT, "%,d", result.mostInASecond()));
            section.row(cells.toArray(String[]::new));
            Series above = Series.of(
                    result.imbalances().size(),
                    minute -> 100 * (result.imbalances().at(minute) - 1));
            chart.line(limit.name(), Series.upTo(above.size()), above);
        }
        Result none = results.get(0);
        Result together = results.get(1);
        Result apart = results.get(2);
        return section.end()
                .add("sticky", chart)
                .add(Figure.atLeast(
                        "ours",
                        "no limit: fullest / mean after three hours",
                        1.1,
                        none.imbalances().at(180)))
                .add(Figure.atMost(
                        "ours",
                        "max-age 30 min: the same",
                        1.05,
                        apart.imbalances().at(180)))
                .add(Figure.atLeast(
                        "ours",
                        "max-age without jitter: reconnects in the worst second, of those with jitter",
                        10,
                        (double) together.mostInASecond() / apart.mostInASecond()));
    }

    private static Result run(Lifetime lifetime) {
        Population population = new Population(
                new Population.Plan(CLIENTS, ENDPOINTS, Choice.POWER_OF_TWO, null, lifetime, RATE, OPENING_SECONDS), 1);
        int newcomer = ENDPOINTS - 1;
        population.takes(newcomer, false);
        population.at(JOINS_SECONDS, () -> population.takes(newcomer, true));
        List<Double> imbalances = new ArrayList<>();
        population.every(60, 0, now -> imbalances.add(imbalance(population)));
        double[] served = new double[ENDPOINTS];
        long[] seen = new long[2]; // reconnects at the last look, and the most between two looks
        population.every(1, 1, now -> {
            for (int i = 0; now > JOINS_SECONDS && i < ENDPOINTS; i++) {
                served[i] += population.rate(i);
            }
            seen[1] = Math.max(seen[1], population.reopened() - seen[0]);
            seen[0] = population.reopened();
        });
        population.runUntil(END_SECONDS);
        return new Result(
                Series.of(imbalances),
                Series.of(served),
                seen[1],
                population.reopened(),
                population.timeline().happened());
    }

    /** Before the first has come there is none. */
    private static double imbalance(Population population) {
        double imbalance = population.connectionImbalance();
        return Double.isNaN(imbalance) ? 1 : imbalance;
    }
}
