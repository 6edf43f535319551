package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import dev.tidegate.model.EndpointCell;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Several balancers before the same endpoints, each with its own counts: what they do to queueing, and to a newcomer. */
final class Herd implements Experiment {
    private static final int[] BALANCERS = {1, 2, 4, 8, 16, 32};
    private static final List<Choice> CHOICES = List.of(
            Choice.ROUND_ROBIN, Choice.RANDOM, Choice.POWER_OF_TWO, Choice.LAST_RELEASED, Choice.LEAST_CONNECTIONS);
    private static final int STANDING = 50;
    private static final int COMING = 400;

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        queueing(section, scale);
        rush(section);
        blackHole(section);
        return section;
    }

    private static void queueing(Section section, Scale scale) {
        String[] head = new String[BALANCERS.length + 1];
        head[0] = "p99 of queueing, ms; balancers:";
        for (int i = 0; i < BALANCERS.length; i++) {
            head[i + 1] = Integer.toString(BALANCERS[i]);
        }
        section.head(head);
        LineChart chart = new LineChart("p99 of queueing, balancers that do not see each other", "balancers", "ms");
        Series xs = Series.of(Arrays.stream(BALANCERS).asDoubleStream().toArray());
        double[][] p99 = new double[CHOICES.size()][BALANCERS.length];
        int seeds = Math.max(1, scale.seeds() * 3 / 10);
        for (int i = 0; i < CHOICES.size(); i++) {
            String[] cells = new String[BALANCERS.length + 1];
            cells[0] = CHOICES.get(i).name();
            for (int k = 0; k < BALANCERS.length; k++) {
                ChapterLoad.Result result = ChapterLoad.run(CHOICES.get(i), BALANCERS[k], seeds);
                section.count(result.events());
                p99[i][k] = result.p99().mean();
                cells[k + 1] = String.format(Locale.ROOT, "%.0f", p99[i][k]);
            }
            section.row(cells);
            chart.line(CHOICES.get(i).name(), xs, Series.of(p99[i]));
        }
        section.end()
                .add("herd", chart)
                .add(Figure.rising(
                        "chapter",
                        "least-connections: p99 with 1, 2, 4, 8 balancers",
                        "rising",
                        p99[4][0],
                        p99[4][1],
                        p99[4][2],
                        p99[4][3]))
                .add(Figure.atMost(
                        "chapter",
                        "8 balancers: what least-connections is better than power-of-two, ms (1 balancer: %.0f)"
                                .formatted(p99[2][0] - p99[4][0]),
                        (p99[2][0] - p99[4][0]) / 1.5,
                        p99[2][3] - p99[4][3]));
    }

    /** An endpoint that is empty joins eight that are not: who of the next connections goes there? */
    private static void rush(Section section) {
        section.head("of the next 400 connections of 8 balancers, to an empty ninth endpoint (fair: 11 %)", "share");
        double[] shares = new double[CHOICES.size()];
        for (int i = 0; i < CHOICES.size(); i++) {
            shares[i] = rush(CHOICES.get(i));
            section.row(CHOICES.get(i).name(), Figure.percent(Math.round(shares[i] * 1000) / 1000.0));
        }
        section.end()
                .add(Figure.atLeast("chapter", "least-connections: all rush to it", 0.99, shares[4]))
                .add(Figure.atMost("chapter", "power-of-two: twice its fair share at most", 0.27, shares[2]));
    }

    private static double rush(Choice choice) {
        int balancers = 8;
        int newcomer = ChapterLoad.SERVERS;
        long rushed = 0;
        for (int i = 0; i < balancers; i++) {
            Balancer balancer = new Balancer(newcomer + 1, choice.picker().apply(i), new Chance(1, i));
            EndpointCell cell = balancer.endpoints().at(newcomer).cell();
            cell.close(EndpointCell.Closed.DISABLED, true);
            for (int n = 0; n < newcomer * STANDING; n++) {
                balancer.give(0);
            }
            cell.close(EndpointCell.Closed.DISABLED, false);
            for (int n = 0; n < COMING / balancers; n++) {
                balancer.give(0);
            }
            rushed += cell.inFlight();
        }
        return (double) rushed / COMING;
    }

    /** One of eight breaks every connection after 10 ms, where the others hold theirs for a second: how many fall for it? */
    private static void blackHole(Section section) {
        section.head("of all connections, to one of eight endpoints that breaks them at once (fair: 12.5 %)", "share");
        for (Choice choice : CHOICES) {
            section.row(choice.name(), Figure.percent(Math.round(broken(choice) * 1000) / 1000.0));
        }
        section.end();
    }

    private static double broken(Choice choice) {
        Timeline timeline = new Timeline();
        Balancer balancer = new Balancer(ChapterLoad.SERVERS, choice.picker().apply(0), new Chance(1, 1));
        Chance chance = new Chance(1, 2);
        int breaker = 0;
        int connections = 20_000;
        long[] broken = {0};
        for (int i = 0; i < connections; i++) {
            timeline.at(Math.round(i * Work.SECOND / 800), () -> {
                long now = timeline.nanoTime();
                int endpoint = balancer.give(now);
                broken[0] += endpoint == breaker ? 1 : 0;
                double seconds = endpoint == breaker ? 0.010 : chance.exponential(1);
                timeline.after(
                        Math.round(seconds * Work.SECOND), () -> balancer.done(endpoint, now, timeline.nanoTime()));
            });
        }
        timeline.run();
        return (double) broken[0] / connections;
    }
}
