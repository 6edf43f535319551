package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import dev.tidegate.dial.RetryBudget;
import dev.tidegate.model.Retries;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.IntToDoubleFunction;
import java.util.function.Supplier;

/** What retries do to a service in an outage, and what a budget makes of that. */
final class RetryExperiment implements Experiment {
    /** 1,000 new ones give or take three standard deviations, their 20 % twice, 10 beside. */
    private static final double MOST_AS_SHIPPED = 1.4 * (1000 + 3 * 32) + 10;

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        section.head("policy", "peak a second", "total sent", "served in the outage", "seconds to recover");
        LineChart chart = new LineChart(
                "Attempts in each second; capacity 1,200, and 120 from second 10 to 19", "second", "attempts a second");
        Series seconds = Series.upTo(RetryModel.SECONDS);
        for (RetryModel.Policy policy : RetryModel.Policy.values()) {
            RetryModel.Result result = RetryModel.run(policy);
            row(section, policy.title(), result, "");
            chart.line(policy.title(), seconds, result.sent());
        }
        section.end().add("retries", chart);
        published(section, RetryModel.Policy.NONE, 1_000, 60_000, 1);
        published(section, RetryModel.Policy.AT_ONCE, 2_876, 80_068, 6);
        published(section, RetryModel.Policy.BACK_OFF, 2_820, 84_556, 20);
        published(section, RetryModel.Policy.BUDGET, 1_100, 61_170, 4);
        section.add(Figure.exactly("chapter", "three layers of three attempts each", 27, RetryModel.layers(3, 3)));
        storms(section);
        return section;
    }

    private static void published(Section section, RetryModel.Policy policy, long peak, long total, long recovery) {
        RetryModel.Result result = RetryModel.run(policy);
        section.add(Figure.exactly("chapter", policy.title() + ", peak", peak, result.peak()))
                .add(Figure.exactly("chapter", policy.title() + ", total", total, result.total()))
                .add(Figure.exactly(
                        "chapter", policy.title() + ", served in the outage", 1_200, result.servedInOutage()))
                .add(Figure.exactly("chapter", policy.title() + ", to recover", recovery, result.recoverySeconds()));
    }

    private static void storms(Section section) {
        Supplier<Retries> chapters = () -> new RetryBudget(10, 0, 0);
        Supplier<Retries> shipped = () -> new RetryBudget(20, 10, 0);
        section.head(
                "request by request",
                "peak a second",
                "total sent",
                "served in the outage",
                "seconds to recover",
                "answered");
        storm(section, "no retries", () -> new RetryBudget(0, 0, 0), RetryExperiment::soonSeconds);
        storm(section, "at once, no budget", () -> Retries.UNBOUNDED, RetryExperiment::soonSeconds);
        storm(section, "back-off, no budget", () -> Retries.UNBOUNDED, RetryExperiment::backOffSeconds);
        RetryStorm.Result limited =
                storm(section, "back-off, production budget of 10 %", chapters, RetryExperiment::backOffSeconds);
        storm(section, "at once, production budget of 10 %", chapters, RetryExperiment::soonSeconds);
        RetryStorm.Result usual = storm(
                section, "at once, production budget as shipped (20 %, 10)", shipped, RetryExperiment::soonSeconds);
        section.end();
        section.add(share("production budget of 10 %: retries of all that is new", 0.10, limited))
                .add(share("production budget as shipped: retries of all that is new, with 10 a second", 0.21, usual))
                .add(Figure.atMost("ours", "the same: peak a second", MOST_AS_SHIPPED, (double)
                        usual.sums().peak()));
    }

    /** New requests of a minute are 60,000, give or take 250. */
    private static Figure share(String what, double most, RetryStorm.Result result) {
        double fresh = RetryModel.SECONDS * 1000.0;
        return Figure.atMost("chapter", what, most, result.sums().total() / fresh - 1);
    }

    private static RetryStorm.Result storm(
            Section section, String name, Supplier<Retries> budget, IntToDoubleFunction windows) {
        RetryStorm.Result result = RetryStorm.run(budget.get(), windows, 1);
        row(section, name, result.sums(), String.format(Locale.ROOT, "%,d", result.answered()));
        section.count(result.events());
        return result;
    }

    private static void row(Section section, String name, RetryModel.Result result, String more) {
        String recovery = result.recoverySeconds() > RetryModel.SECONDS - RetryModel.OUTAGE_ENDS
                ? "more than " + (RetryModel.SECONDS - RetryModel.OUTAGE_ENDS)
                : Integer.toString(result.recoverySeconds());
        String[] cells = {
            name,
            String.format(Locale.ROOT, "%,d", result.peak()),
            String.format(Locale.ROOT, "%,d", result.total()),
            String.format(Locale.ROOT, "%,d", result.servedInOutage()),
            recovery,
            more
        };
        section.row(more.isEmpty() ? Arrays.copyOf(cells, cells.length - 1) : cells);
    }

    private static double backOffSeconds(int attempt) {
        return 1 << attempt;
    }

    /** As a dial does it that has another endpoint to go to: soon. */
    private static double soonSeconds(int attempt) {
        return attempt * 0.005;
    }
}
