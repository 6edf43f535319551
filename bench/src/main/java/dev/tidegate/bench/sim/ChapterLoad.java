package dev.tidegate.bench.sim;

/**
 * The load on which policies are compared: eight servers, one job at a time on each; jobs come with a mean gap of 1 ms and take
 * 4 ms on average, one in twenty 40 ms, which makes 72.5 % utilisation.
 */
final class ChapterLoad {
    static final int SERVERS = 8;
    private static final double PER_SECOND = 1000;
    private static final long JOBS = 20_000;
    private static final Work WORK = Work.mixed(0.004, 0.040, 0.05);

    private ChapterLoad() {}

    /**
     * What many seeds gave; in milliseconds of queueing.
     *
     * @param least the least p99 of one seed
     * @param greatest the greatest p99 of one seed
     */
    record Result(Choice choice, Moments p50, Moments p99, double least, double greatest, long events) {}

    static Result run(Choice choice, int balancers, int seeds) {
        Farm.Plan plan = Farm.Plan.of(SERVERS, PER_SECOND, WORK, choice.picker(), JOBS)
                .withBalancers(balancers)
                .withWarmUp(0)
                .withWaits();
        double[] p50 = new double[seeds];
        double[] p99 = new double[seeds];
        double least = Double.MAX_VALUE;
        double greatest = 0;
        long events = 0;
        for (int i = 0; i < seeds; i++) {
            Outcome outcome = Farm.run(plan, i + 1);
            p50[i] = outcome.waitMillis(0.5);
            p99[i] = outcome.waitMillis(0.99);
            least = Math.min(least, p99[i]);
            greatest = Math.max(greatest, p99[i]);
            events += outcome.events();
        }
        return new Result(choice, Moments.of(p50), Moments.of(p99), least, greatest, events);
    }
}
