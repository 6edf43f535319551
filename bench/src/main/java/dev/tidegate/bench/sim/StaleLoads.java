package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import java.util.List;

/**
 * What a pick is worth when it goes by loads that were true a while ago: row S10. Loads are looked at all at once, every T
 * service times (a bulletin board). Mitzenmacher, "How Useful Is Old Information?" (2000).
 */
final class StaleLoads implements Experiment {
    private static final int SERVERS = 100;
    private static final double LOAD = 0.9;
    private static final double[] AGES = {0, 0.1, 0.5, 1, 2, 5, 10, 20};
    private static final List<Choice> CHOICES = List.of(Choice.RANDOM, Choice.POWER_OF_TWO, Choice.LEAST_CONNECTIONS);

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        String[] head = new String[AGES.length + 1];
        head[0] = "E[T] by age of the loads";
        for (int i = 0; i < AGES.length; i++) {
            head[i + 1] = Figure.number(AGES[i]).replaceAll("\\.?0+$", "");
        }
        head[1] = "0";
        section.head(head);
        LineChart chart = new LineChart(
                "Mean time in the system when loads are old, n = 100, λ = 0.9",
                "age of the loads, service times",
                "E[T]");
        double[][] sojourns = new double[CHOICES.size()][AGES.length];
        for (int i = 0; i < CHOICES.size(); i++) {
            String[] cells = new String[AGES.length + 1];
            cells[0] = CHOICES.get(i).name();
            for (int k = 0; k < AGES.length; k++) {
                Farm.Plan plan = Farm.Plan.of(
                                SERVERS,
                                LOAD * SERVERS,
                                Work.exponential(1),
                                CHOICES.get(i).picker(),
                                scale.jobs(1e6))
                        .withStaleNanos(Math.round(AGES[k] * Work.SECOND));
                Outcome outcome = Farm.run(plan, 1);
                section.count(outcome.events());
                sojourns[i][k] = outcome.sojourn();
                cells[k + 1] = Figure.number(outcome.sojourn());
            }
            section.row(cells);
            chart.line(CHOICES.get(i).name(), Series.of(AGES), Series.of(sojourns[i]));
        }
        int ten = 6;
        return section.end()
                .add("stale", chart)
                .add(Figure.rising(
                        "S10", "T = 10: power-of-two, random", "two < random", sojourns[1][ten], sojourns[0][ten]))
                .add(Figure.rising(
                        "S10",
                        "T = 10: random, least-connections",
                        "random < least",
                        sojourns[0][ten],
                        sojourns[2][ten]));
    }
}
