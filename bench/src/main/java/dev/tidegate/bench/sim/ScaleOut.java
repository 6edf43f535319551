package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import dev.tidegate.control.FairShares;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.RetireOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A fifth endpoint joins four with 10,000 long connections: with and without a limit on their age, and with a rebalance. */
final class ScaleOut implements Experiment {
    private static final int ENDPOINTS = 5;
    private static final int CLIENTS = 10_000;
    private static final double OPENING_SECONDS = 600;
    private static final double JOINS_SECONDS = 1800;
    private static final double LIFE_SECONDS = 7200;
    private static final double SPREAD_SECONDS = 120;
    private static final int MAX_SHARE_PERCENT = 110;
    private static final int MINUTES = 60;
    private static final int[] SHOWN_MINUTES = {1, 2, 5, 10, 20, 60};
    private static final Work ANY = chance -> 1;

    private record Way(String name, Choice choice, Lifetime lifetime, boolean rebalances) {}

    private static final List<Way> WAYS = List.of(
            way("nothing", Choice.POWER_OF_TWO, Lifetimes.NONE, false),
            way("max-age 1 h, jitter 20 %", Choice.POWER_OF_TWO, Lifetimes.of(3600, 0.2), false),
            way("max-age 10 min, jitter 20 %", Choice.POWER_OF_TWO, Lifetimes.of(600, 0.2), false),
            way("rebalance on join", Choice.POWER_OF_TWO, Lifetimes.NONE, true),
            way("both, max-age 1 h", Choice.POWER_OF_TWO, Lifetimes.of(3600, 0.2), true),
            way("rebalance on join", Choice.ROUND_ROBIN, Lifetimes.NONE, true),
            way("rebalance on join", Choice.LAST_RELEASED, Lifetimes.NONE, true),
            way("rebalance on join", Choice.LEAST_CONNECTIONS, Lifetimes.NONE, true));

    private static Way way(String name, Choice choice, Lifetime lifetime, boolean rebalances) {
        return new Way(name + ", " + choice.name(), choice, lifetime, rebalances);
    }

    private record Result(Series shares, long retired, long events) {}

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        List<String> head = new ArrayList<>(List.of("the newcomer has, of its fair share"));
        for (int minute : SHOWN_MINUTES) {
            head.add(minute + " min");
        }
        head.add("ended by us in that hour");
        section.head(head.toArray(String[]::new));
        LineChart chart = new LineChart(
                "A fifth endpoint joins four with 10,000 connections that live 2 h on average",
                "minutes",
                "of its fair share");
        Series minutes = Series.upTo(MINUTES + 1);
        List<Result> results = new ArrayList<>();
        for (Way way : WAYS) {
            Result result = run(way);
            results.add(result);
            section.count(result.events());
            List<String> cells = new ArrayList<>(List.of(way.name()));
            for (int minute : SHOWN_MINUTES) {
                cells.add(Figure.percent(Math.round(result.shares().at(minute) * 1000) / 1000.0));
            }
            cells.add(String.format(Locale.ROOT, "%,d", result.retired()));
            section.row(cells.toArray(String[]::new));
            chart.line(way.name(), minutes, result.shares());
        }
        Result nothing = results.get(0);
        Result two = results.get(3);
        Result least = results.get(7);
        double lacking = (double) CLIENTS / ENDPOINTS;
        // Four keep 110 % of a fair share each, so that six tenths of what the newcomer lacks are sent away. By least
        // connections all of them come to it; of two drawn from five the newcomer is one in two fifths of all picks.
        return section.end()
                .add("scale-out", chart)
                .add(Figure.near(
                        "ours",
                        "nothing: 1 − e^(−2t/L) after 10 min",
                        0.1535,
                        nothing.shares().at(10),
                        0.10))
                .add(Figure.near(
                        "ours", "rebalance: ended, of what the newcomer lacks", 0.60, two.retired() / lacking, 0.05))
                .add(Figure.near(
                        "ours",
                        "least-connections: what a rebalance brings within 2 min",
                        0.60,
                        least.shares().at(2),
                        0.15))
                .add(Figure.near(
                        "ours", "power-of-two: the same", 0.24, two.shares().at(2), 0.15));
    }

    private static Result run(Way way) {
        Population population = new Population(
                new Population.Plan(
                        CLIENTS,
                        ENDPOINTS,
                        way.choice(),
                        Work.exponential(LIFE_SECONDS),
                        way.lifetime(),
                        ANY,
                        OPENING_SECONDS),
                1);
        int newcomer = ENDPOINTS - 1;
        population.takes(newcomer, false);
        long[] retiredBefore = {0};
        population.at(JOINS_SECONDS, () -> {
            retiredBefore[0] = population.retired();
            population.takes(newcomer, true);
            if (way.rebalances()) {
                Map<Endpoint, Long> shares = FairShares.of(population.taking(), CLIENTS, MAX_SHARE_PERCENT);
                population.retire(
                        RetireOrder.everywhere(CloseReason.REBALANCE),
                        shares::get,
                        chance -> chance.nextDouble() * SPREAD_SECONDS);
            }
        });
        List<Double> shares = new ArrayList<>();
        population.every(
                60, JOINS_SECONDS, now -> shares.add(population.connections(newcomer) * (double) ENDPOINTS / CLIENTS));
        population.runUntil(JOINS_SECONDS + MINUTES * 60.0);
        return new Result(
                Series.of(shares),
                population.retired() - retiredBefore[0],
                population.timeline().happened());
    }
}
