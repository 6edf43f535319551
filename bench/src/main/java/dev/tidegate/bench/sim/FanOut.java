package dev.tidegate.bench.sim;

import java.util.Arrays;

/**
 * Requests that need an answer from many: row S16. Dean and Barroso, "The Tail at Scale" (2013). Its latencies are not
 * published; ours are exponential with mean 2 ms, and one in a thousand has a hiccup of 350 ms on average instead.
 */
final class FanOut implements Experiment {
    private static final int SERVERS = 100;
    private static final double SHORT_SECONDS = 0.002;
    private static final double HICCUP_SECONDS = 0.350;
    private static final double HICCUPS = 0.001;
    private static final int RUNS = 200_000;
    private static final double HEDGE_SECONDS = 0.010;

    @Override
    public Section run(Scale scale) {
        int reads = (int) scale.jobs(200_000);
        Work work = Work.mixed(SHORT_SECONDS, HICCUP_SECONDS, HICCUPS);
        Chance chance = new Chance(1, 1);
        double[] plain = new double[reads];
        double[] hedged = new double[reads];
        long second = 0;
        for (int i = 0; i < reads; i++) {
            for (int k = 0; k < SERVERS; k++) {
                double first = work.seconds(chance);
                plain[i] = Math.max(plain[i], first);
                if (first > HEDGE_SECONDS) {
                    second++;
                    first = Math.min(first, HEDGE_SECONDS + work.seconds(chance));
                }
                hedged[i] = Math.max(hedged[i], first);
            }
        }
        double before = quantile(plain) * 1e3;
        double after = quantile(hedged) * 1e3;
        return new Section()
                .add(Figure.near("S16", "one in 100 is slow, fan-out 100: slow", 0.634, slow(100, 0.01), 0.01))
                .add(Figure.near("S16", "one in 10,000 is slow, fan-out 2,000: slow", 0.181, slow(2000, 0.0001), 0.02))
                .add(Figure.atLeast(
                        "S16",
                        "p99.9 of %.0f ms, with a second request after 10 ms %.0f ms: times better"
                                .formatted(before, after),
                        10,
                        before / after))
                .add(Figure.atMost("S16", "and more requests, as a share", 0.05, (double) second / reads / SERVERS));
    }

    private static double slow(int fanOut, double share) {
        Chance chance = new Chance(1, 2);
        long slow = 0;
        for (int i = 0; i < RUNS; i++) {
            // The first slow one of all that are asked: geometric.
            slow += Math.log(chance.share()) / Math.log1p(-share) < fanOut ? 1 : 0;
        }
        return (double) slow / RUNS;
    }

    private static double quantile(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) (0.999 * sorted.length)];
    }
}
