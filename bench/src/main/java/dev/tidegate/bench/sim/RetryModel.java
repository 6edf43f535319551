package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.Series;
import java.util.Arrays;

/**
 * What retries do to a service in an outage, second by second and without chance: 1,000 new requests a second, a capacity of
 * 1,200 that falls to 120 in seconds 10 to 19 of 60, at most three attempts. What fails is spread over the attempts in
 * proportion; counts are whole numbers, rounded down.
 */
final class RetryModel {
    static final int SECONDS = 60;
    private static final int FRESH = 1_000;
    private static final int CAPACITY = 1_200;
    private static final int CAPACITY_IN_OUTAGE = 120;
    private static final int OUTAGE_BEGINS = 10;
    static final int OUTAGE_ENDS = 20;
    private static final int ATTEMPTS = 3;
    /** Recovered is who sends no more than so much above what is new, in percent. */
    private static final int RECOVERED_PERCENT = 105;

    /** When what failed is sent again. */
    enum Policy {
        /** Never. */
        NONE("none", false),
        /** In the next second. */
        AT_ONCE("at once", false),
        /** After 2 or 3 s, and after 4 to 7 s, evenly. */
        BACK_OFF("back-off with jitter", false),
        /** The same, and no more than a tenth of what is new, later attempts first. */
        BUDGET("the same with a budget", true);

        private final String title;
        private final boolean limited;

        Policy(String title, boolean limited) {
            this.title = title;
            this.limited = limited;
        }

        String title() {
            return title;
        }

        /** The seconds from a failure of that attempt, the first being 1, in which the next one may come. */
        private int[] delays(int attempt) {
            return switch (this) {
                case NONE -> new int[0];
                case AT_ONCE -> new int[] {1};
                case BACK_OFF, BUDGET -> attempt == 1 ? new int[] {2, 3} : new int[] {4, 5, 6, 7};
            };
        }
    }

    /**
     * What it came to.
     *
     * @param sent in each second
     * @param servedInOutage in the ten seconds of it
     * @param recoverySeconds from its end to the first second, counted from 1, in which hardly any retries are sent
     */
    record Result(Series sent, long servedInOutage, int recoverySeconds) {
        long peak() {
            return (long) sent.max();
        }

        long total() {
            return (long) sent.stream().sum();
        }

        static int recovery(Series sent) {
            int second = OUTAGE_ENDS;
            while (second < sent.size() && sent.at(second) * 100 > FRESH * RECOVERED_PERCENT) {
                second++;
            }
            return second - OUTAGE_ENDS + 1;
        }
    }

    private RetryModel() {}

    static long capacity(int second) {
        return second >= OUTAGE_BEGINS && second < OUTAGE_ENDS ? CAPACITY_IN_OUTAGE : CAPACITY;
    }

    static boolean inOutage(int second) {
        return second >= OUTAGE_BEGINS && second < OUTAGE_ENDS;
    }

    static Result run(Policy policy) {
        long[][] due = new long[SECONDS + 2 * ATTEMPTS + 2][ATTEMPTS + 1]; // by second and attempt
        long[] sent = new long[SECONDS];
        long servedInOutage = 0;
        for (int second = 0; second < SECONDS; second++) {
            long[] attempts = due[second];
            attempts[1] = FRESH;
            if (policy.limited) {
                limit(attempts, FRESH / 10);
            }
            sent[second] = Arrays.stream(attempts).sum();
            long served = Math.min(sent[second], capacity(second));
            servedInOutage += inOutage(second) ? served : 0;
            for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
                long failed = attempts[attempt] * (sent[second] - served) / sent[second];
                int[] delays = policy.delays(attempt);
                for (int delay : delays) {
                    due[second + delay][attempt + 1] += failed / delays.length;
                }
            }
        }
        Series all = Series.of(sent);
        return new Result(all, servedInOutage, Result.recovery(all));
    }

    private static void limit(long[] attempts, long most) {
        long left = most;
        for (int attempt = ATTEMPTS; attempt > 1; attempt--) {
            attempts[attempt] = Math.min(attempts[attempt], left);
            left -= attempts[attempt];
        }
    }

    /** Requests that reach the innermost of so many layers, if each makes so many attempts and all fail. */
    static long layers(int layers, int attempts) {
        return layers == 0 ? 1 : attempts * layers(layers - 1, attempts);
    }
}
