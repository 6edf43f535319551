package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.Series;
import dev.tidegate.dial.RetryBudget;
import dev.tidegate.model.Retries;
import java.util.function.IntToDoubleFunction;

/**
 * The outage of {@link RetryModel} request by request, with the production {@link RetryBudget}: requests come by chance, the
 * server serves the first of each second, and what fails is sent again if the budget allows it.
 *
 * <p>Confined to one thread; one run.
 */
final class RetryStorm {
    private static final long SECOND = 1_000_000_000L;
    private static final double FRESH_PER_SECOND = 1000;
    private static final int ATTEMPTS = 3;

    private final Timeline timeline = new Timeline();
    private final Chance arrivals;
    private final Chance jitter;
    private final Retries budget;
    private final IntToDoubleFunction windowSeconds;
    private final long[] sent = new long[RetryModel.SECONDS];
    private final long[] served = new long[RetryModel.SECONDS];
    private long answered;

    /**
     * @param budget of the backend
     * @param windowSeconds over which the retry after that attempt is drawn, the first attempt being 1; it begins as late as it
     *     is wide
     */
    private RetryStorm(Retries budget, IntToDoubleFunction windowSeconds, long seed) {
        this.budget = budget;
        this.windowSeconds = windowSeconds;
        arrivals = new Chance(seed, 1);
        jitter = new Chance(seed, 2);
    }

    /**
     * What it came to.
     *
     * @param answered requests that were served in the end
     */
    record Result(RetryModel.Result sums, long answered, long events) {}

    static Result run(Retries budget, IntToDoubleFunction windowSeconds, long seed) {
        return new RetryStorm(budget, windowSeconds, seed).run();
    }

    private Result run() {
        timeline.after(0, this::arrive);
        timeline.runUntil(RetryModel.SECONDS * SECOND - 1);
        Series all = Series.of(sent);
        long inOutage = 0;
        for (int i = 0; i < served.length; i++) {
            inOutage += RetryModel.inOutage(i) ? served[i] : 0;
        }
        return new Result(
                new RetryModel.Result(all, inOutage, RetryModel.Result.recovery(all)), answered, timeline.happened());
    }

    private void arrive() {
        timeline.after(Math.round(arrivals.exponential(SECOND / FRESH_PER_SECOND)), this::arrive);
        budget.onConnection(timeline.nanoTime());
        attempt(1);
    }

    private void attempt(int number) {
        long now = timeline.nanoTime();
        int second = (int) (now / SECOND);
        sent[second]++;
        if (served[second] < RetryModel.capacity(second)) {
            served[second]++;
            answered++;
        } else if (number < ATTEMPTS && budget.tryRetry(now)) {
            double window = windowSeconds.applyAsDouble(number);
            long delay = Math.round(window * (1 + jitter.nextDouble()) * SECOND);
            timeline.after(delay, () -> attempt(number + 1));
        }
    }
}
