package dev.tidegate.bench.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Queueing under each policy, on the load of {@link ChapterLoad}. */
final class FourPolicies implements Experiment {
    /** Standard errors that two means over different seeds may be apart. */
    private static final double ERRORS = 3;

    private static final int PUBLISHED_SEEDS = 100;

    /**
     * What was published: over 100 seeds, and of one seed.
     *
     * @param p99OfOne 0 where there is none
     */
    private record Published(
            Choice choice, double p50, double p50Deviation, double p99, double p99Deviation, double p99OfOne) {}

    private static final List<Published> PUBLISHED = List.of(
            new Published(Choice.ROUND_ROBIN, 3.73, 1.17, 283.5, 51.7, 241.3),
            new Published(Choice.RANDOM, 10.92, 1.77, 307.0, 59.8, 253.4),
            new Published(Choice.LEAST_CONNECTIONS, 0, 0, 67.2, 8.5, 62.5),
            new Published(Choice.powerOfTwoThatMayCoincide(), 1.10, 0.35, 128.5, 10.3, 139.6),
            new Published(Choice.POWER_OF_TWO, 0.70, 0.36, 118.1, 11.2, 0));

    @Override
    public Section run(Scale scale) {
        Section section =
                new Section().head("policy", "queueing p50, ms", "p99, ms", "p99 of one seed, least–greatest");
        List<ChapterLoad.Result> results = new ArrayList<>();
        for (Published published : PUBLISHED) {
            ChapterLoad.Result result = ChapterLoad.run(published.choice(), 1, scale.seeds());
            results.add(result);
            section.count(result.events())
                    .row(
                            published.choice().name(),
                            text(result.p50()),
                            text(result.p99()),
                            String.format(Locale.ROOT, "%.0f–%.0f", result.least(), result.greatest()));
        }
        section.end();
        for (int i = 0; i < results.size(); i++) {
            compare(section, PUBLISHED.get(i), results.get(i));
        }
        return section;
    }

    private static void compare(Section section, Published published, ChapterLoad.Result result) {
        String name = published.choice().name();
        section.add(mean(name + ", p50", published.p50(), published.p50Deviation(), result.p50()))
                .add(mean(name + ", p99", published.p99(), published.p99Deviation(), result.p99()))
                .add(deviation(name + ", sd of p99", published.p99Deviation(), result.p99()));
        if (published.p99OfOne() > 0) {
            // A seed means other arrivals in another program: it can only be one of many.
            double widest = 4 * result.p99().deviation();
            section.add(Figure.within(
                    "chapter",
                    name + ", p99 of its own seed",
                    published.p99OfOne(),
                    result.p99().mean(),
                    widest));
        }
    }

    private static Figure mean(String what, double expected, double deviation, Moments got) {
        double error = Math.hypot(deviation / Math.sqrt(PUBLISHED_SEEDS), got.standardError());
        return new Figure(
                "chapter",
                what,
                String.format(Locale.ROOT, "%.2f ± %.2f", expected, deviation),
                text(got),
                "3 se: " + Figure.number(ERRORS * error),
                Math.abs(got.mean() - expected) <= ERRORS * error);
    }

    /** The logarithm of a standard deviation of n values has the standard error √(1 / 2(n − 1)). */
    private static Figure deviation(String what, double expected, Moments got) {
        double error = Math.sqrt(0.5 / (PUBLISHED_SEEDS - 1) + 0.5 / (got.count() - 1));
        double factor = Math.exp(ERRORS * error);
        double ratio = got.deviation() / expected;
        return new Figure(
                "chapter",
                what,
                Figure.number(expected),
                Figure.number(got.deviation()),
                "3 se: × or ÷ " + Figure.number(factor),
                ratio <= factor && ratio >= 1 / factor);
    }

    static String text(Moments values) {
        return String.format(Locale.ROOT, "%.2f ± %.2f", values.mean(), values.deviation());
    }
}
