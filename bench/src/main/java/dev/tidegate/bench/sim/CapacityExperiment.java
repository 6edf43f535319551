package dev.tidegate.bench.sim;

import dev.tidegate.bench.capacity.ErlangC;
import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import java.util.Locale;

/** The Erlang C formula against what was published, and against the simulator. */
final class CapacityExperiment implements Experiment {
    private static final double SERVICE_SECONDS = 0.010;
    private static final int[] SIZES = {1, 4, 16};
    private static final double[] UTILISATIONS = {0.50, 0.70, 0.80, 0.90, 0.95, 0.99};
    private static final double[][] QUEUEING_MILLIS = {
        {10.0, 23.3, 40.0, 90.0, 190.0, 990.0}, {0.9, 3.6, 7.5, 19.7, 44.6, 244.5}, {0.0, 0.3, 1.0, 3.7, 9.8, 59.6}
    };
    private static final int[] POOLS = {1, 2, 4, 8, 16, 32};
    private static final double[] POOL_MILLIS = {90.00, 42.63, 19.69, 8.77, 3.70, 1.43};
    private static final int[] POOL_WAITING_PERCENT = {90, 85, 79, 70, 59, 46};
    private static final int[] SIZES_FOR_5_MS = {1, 4, 16, 64};
    private static final double[] PERCENT_FOR_5_MS = {33.3, 74.7, 91.8, 97.5};

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        published(section);
        chart(section);
        simulated(section, scale);
        return section;
    }

    private static void published(Section section) {
        section.head("servers", "50 %", "70 %", "80 %", "90 %", "95 %", "99 %");
        int alike = 0;
        for (int i = 0; i < SIZES.length; i++) {
            ErlangC pool = new ErlangC(SIZES[i], SERVICE_SECONDS);
            String[] cells = new String[UTILISATIONS.length + 1];
            cells[0] = Integer.toString(SIZES[i]);
            for (int k = 0; k < UTILISATIONS.length; k++) {
                cells[k + 1] = text(1, pool.queueingSeconds(UTILISATIONS[k]) * 1e3);
                alike += cells[k + 1].equals(text(1, QUEUEING_MILLIS[i][k])) ? 1 : 0;
            }
            section.row(cells);
        }
        section.end()
                .add(Figure.exactly(
                        "chapter", "mean queueing by utilisation: alike to the last digit, of 18", 18, alike));
        alike = 0;
        for (int i = 0; i < POOLS.length; i++) {
            ErlangC pool = new ErlangC(POOLS[i], SERVICE_SECONDS);
            alike += text(2, pool.queueingSeconds(0.9) * 1e3).equals(text(2, POOL_MILLIS[i])) ? 1 : 0;
            alike += Math.round(pool.waitingShare(0.9) * 100) == POOL_WAITING_PERCENT[i] ? 1 : 0;
        }
        section.add(Figure.exactly(
                "chapter", "queueing and chance of waiting at 90 % on 1 to 32 servers: alike, of 12", 12, alike));
        alike = 0;
        for (int i = 0; i < SIZES_FOR_5_MS.length; i++) {
            double highest = inTenths(new ErlangC(SIZES_FOR_5_MS[i], SERVICE_SECONDS).utilisationFor(0.005));
            alike += highest == PERCENT_FOR_5_MS[i] ? 1 : 0;
        }
        section.add(Figure.exactly("chapter", "highest utilisation for 5 ms of queueing: alike, of 4", 4, alike))
                .add(highest("service 50 ms, queueing 10 ms, on 4: highest utilisation", 4, 61.5))
                .add(highest("the same on 16", 16, 85.7));
    }

    private static Figure highest(String what, int servers, double percent) {
        double got = inTenths(new ErlangC(servers, 0.050).utilisationFor(0.010));
        return new Figure("formula", what, percent + " %", got + " %", "exact", got == percent);
    }

    /** In percent with one decimal, rounded down: one tenth more would be too much. */
    private static double inTenths(double highest) {
        return Math.floor(highest * 1000) / 10;
    }

    private static void chart(Section section) {
        LineChart chart = new LineChart(
                "Mean queueing by utilisation, in service times (Erlang C)", "utilisation", "queueing / service time");
        for (int size : new int[] {1, 2, 4, 16, 64}) {
            ErlangC pool = new ErlangC(size, 1);
            double highest = pool.utilisationFor(5);
            Series loads = Series.of(97, place -> highest * place / 96);
            chart.line(
                    size + (size == 1 ? " server" : " servers"),
                    loads,
                    Series.of(loads.size(), place -> pool.queueingSeconds(loads.at(place))));
        }
        section.add("capacity", chart);
    }

    private static void simulated(Section section, Scale scale) {
        for (int size : SIZES) {
            for (double utilisation : new double[] {0.5, 0.8, 0.9}) {
                CentralQueue.Result result = CentralQueue.run(size, utilisation, SERVICE_SECONDS, scale.jobs(4e6), 1);
                section.count(result.events());
                double expected = new ErlangC(size, SERVICE_SECONDS).queueingSeconds(utilisation) * 1e3;
                section.add(Figure.near(
                        "simulator",
                        "mean queueing on %d at %.0f %%, ms".formatted(size, utilisation * 100),
                        expected,
                        result.queueing() * 1e3,
                        result.error() * 1e3,
                        Math.max(0.03, 3 * result.error() * 1e3 / expected)));
            }
        }
    }

    private static String text(int decimals, double value) {
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }
}
