package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import dev.tidegate.model.Lifetime;
import java.util.Arrays;

/**
 * Connections that came together, and that come again at once whenever they have ended: how jitter takes them apart, row S14.
 * The production {@link Lifetime} draws their ends. After k generations the standard deviation is √k · jT/√3.
 */
final class Jitter implements Experiment {
    private static final double AGE_SECONDS = 600;
    private static final double JITTER = 0.2;
    private static final int CONNECTIONS = 100_000;
    private static final double[] EXPECTED = {69, 98, 120, 139, 155};
    private static final int BIN_SECONDS = 10;

    @Override
    public Section run(Scale scale) {
        int connections = (int) scale.jobs(CONNECTIONS);
        Lifetime lifetime = new Lifetime(
                Math.round(AGE_SECONDS * Work.SECOND), JITTER, Lifetime.UNLIMITED, Lifetime.UNLIMITED, 0, 1, 0);
        Chance chance = new Chance(1, 1);
        long[] ends = new long[connections];
        Section section = new Section();
        LineChart chart = new LineChart(
                "Ends of 100,000 connections that came at once; max-age 10 min, jitter 20 %",
                "minutes", "ends a second");
        for (int generation = 1; generation <= EXPECTED.length; generation++) {
            for (int i = 0; i < connections; i++) {
                ends[i] = lifetime.softNanos(ends[i], 2 * chance.nextDouble() - 1);
            }
            double[] seconds =
                    Arrays.stream(ends).mapToDouble(end -> end / Work.SECOND).toArray();
            section.add(Figure.near(
                    "S14",
                    "generation " + generation + ": σ of their ends, s",
                    EXPECTED[generation - 1],
                    Moments.of(seconds).deviation(),
                    0.05));
            double[] rates = rates(seconds);
            if (generation == 1) {
                section.add(Figure.near(
                        "S14",
                        "first wave: ends a second in the middle of it, N/(2jT)",
                        connections / (2 * JITTER * AGE_SECONDS),
                        rates[(int) AGE_SECONDS / BIN_SECONDS],
                        0.05));
            }
            Series minutes = Series.of(rates.length, i -> (i + 0.5) * BIN_SECONDS / 60);
            chart.line("generation " + generation, minutes, Series.of(rates));
        }
        return section.add("jitter", chart);
    }

    private static double[] rates(double[] seconds) {
        double[] rates = new double[(int) (6 * AGE_SECONDS) / BIN_SECONDS];
        for (double second : seconds) {
            rates[(int) second / BIN_SECONDS] += 1.0 / BIN_SECONDS;
        }
        return rates;
    }
}
