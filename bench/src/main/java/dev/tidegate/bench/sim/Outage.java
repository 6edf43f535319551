package dev.tidegate.bench.sim;

import dev.tidegate.balance.Pickers;
import dev.tidegate.dial.RetryBudget;
import dev.tidegate.fitness.Chronicle;
import dev.tidegate.fitness.FitnessPolicy;
import dev.tidegate.fitness.Judge;
import dev.tidegate.fitness.Tally;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Picker;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.Retries;
import dev.tidegate.model.Tried;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * An endpoint that refuses every connect for a while, and then is there again: with the production ejection, slow start and
 * retry budget, on virtual time.
 */
final class Outage implements Experiment {
    private static final int ENDPOINTS = 8;
    private static final int SICK = 0;
    private static final double PER_SECOND = 1000;
    private static final Work LIFE = Work.exponential(2);
    private static final int OUTAGE_BEGINS = 60;
    private static final int OUTAGE_ENDS = 120;
    private static final int END = 240;
    private static final int ATTEMPTS = 3;
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final FitnessPolicy.Outlier EJECTION =
            new FitnessPolicy.Outlier(5, 0, 0, seconds(10), EndpointWatch.ANY_TIME, seconds(30), seconds(300), 50);
    private static final FitnessPolicy.SlowStart SLOW = new FitnessPolicy.SlowStart(seconds(30), 1, 10);

    private record Way(String name, BalancePolicy policy, boolean ejects, boolean startsSlowly) {}

    private static final List<Way> WAYS = List.of(
            new Way("nothing but retries", BalancePolicy.POWER_OF_TWO, false, false),
            new Way("ejection", BalancePolicy.POWER_OF_TWO, true, false),
            new Way("ejection and slow start", BalancePolicy.POWER_OF_TWO, true, true),
            new Way("nothing but retries", BalancePolicy.LEAST_CONNECTIONS, false, false),
            new Way("ejection", BalancePolicy.LEAST_CONNECTIONS, true, false),
            new Way("ejection and slow start", BalancePolicy.LEAST_CONNECTIONS, true, true));

    /**
     * What came of it.
     *
     * @param refused connects that the endpoint refused
     * @param failed clients that met no endpoint
     * @param ejections of the endpoint
     * @param backSeconds from the end of the outage to its first connection
     * @param firstSecond connections in the second from then on
     * @param halfMinute connections in the half minute from then on
     */
    private record Result(
            long refused,
            long failed,
            long ejections,
            double backSeconds,
            long firstSecond,
            long halfMinute,
            long events) {}

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        section.head(
                "",
                "connects refused in 60 s",
                "clients that failed",
                "ejections",
                "back after, s",
                "its connections in the first second (fair: 125)",
                "in 30 s (fair: 3,750)");
        List<Result> results = new ArrayList<>();
        for (Way way : WAYS) {
            Result result = new Run(way).run();
            results.add(result);
            section.count(result.events())
                    .row(
                            way.name() + ", " + Choice.of(way.policy()).name(),
                            text(result.refused()),
                            text(result.failed()),
                            text(result.ejections()),
                            String.format(Locale.ROOT, "%.1f", result.backSeconds()),
                            text(result.firstSecond()),
                            text(result.halfMinute()));
        }
        return section.end()
                .add(Figure.atMost("ours", "ejection: connects refused", 50, (double)
                        results.get(1).refused()))
                .add(Figure.atMost("ours", "ejection: clients that failed", 0, (double)
                        results.get(1).failed()))
                .add(Figure.rising(
                        "ours",
                        "least-connections, first second back: with and without slow start",
                        "rising",
                        (double) results.get(5).firstSecond(),
                        (double) results.get(4).firstSecond()));
    }

    private static String text(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    private static long seconds(int count) {
        return TimeUnit.SECONDS.toNanos(count);
    }

    /** One way through it. */
    private static final class Run implements Chronicle, Tally {
        private final Timeline timeline = new Timeline();
        private final Chance arrivals = new Chance(1, 1);
        private final Chance lives = new Chance(1, 2);
        private final Chance picks = new Chance(1, 3);
        private final Judge judge;
        private final Backend backend;
        private final Picker picker;
        private final Retries retries = new RetryBudget(20, 10, 0);
        private final EndpointWatch watch;
        private long refused;
        private long failed;
        private long ejections;
        private long backNanos = -1;
        private long firstSecond;
        private long halfMinute;

        Run(Way way) {
            judge = new Judge(
                    timeline,
                    () -> Instant.ofEpochSecond(0, timeline.nanoTime()),
                    new Chance(1, 4),
                    this,
                    this,
                    Runnable::run);
            FitnessPolicy policy = new FitnessPolicy(
                    false,
                    Optional.empty(),
                    way.ejects() ? Optional.of(EJECTION) : Optional.empty(),
                    Optional.empty(),
                    way.startsSlowly() ? Optional.of(SLOW) : Optional.empty(),
                    new FitnessPolicy.Panic(50, true));
            picker = Pickers.of(way.policy());
            watch = judge.watch("simulated", policy);
            BackendCell cell = new BackendCell("simulated", 0);
            EndpointList endpoints = new EndpointList(Balancer.list(ENDPOINTS).all(), cell);
            ConnectPolicy connect = new ConnectPolicy(seconds(2), ATTEMPTS, seconds(5), ProxyProtocol.OFF);
            backend = new Backend(cell, way.policy(), picker, endpoints, connect, retries, watch);
            judge.follow(List.of(backend), Map.of("simulated", policy), true);
        }

        Result run() {
            timeline.at(0, this::arrive);
            timeline.at(0, this::tick);
            timeline.runUntil(seconds(END));
            return new Result(
                    refused,
                    failed,
                    ejections,
                    (backNanos - seconds(OUTAGE_ENDS)) / Work.SECOND,
                    firstSecond,
                    halfMinute,
                    timeline.happened());
        }

        private void tick() {
            judge.tick();
            timeline.after(TICK_NANOS, this::tick);
        }

        private void arrive() {
            timeline.after(Math.round(arrivals.exponential(Work.SECOND / PER_SECOND)), this::arrive);
            retries.onConnection(timeline.nanoTime());
            attempt(1, new Tried());
        }

        private void attempt(int number, Tried tried) {
            long now = timeline.nanoTime();
            int index = picker.pick(backend.endpoints(), tried, picks);
            if (index == Picker.NONE || !backend.endpoints().at(index).tryAcquire()) {
                failed++;
                return;
            }
            EndpointCell cell = backend.endpoints().at(index).cell();
            if (index != SICK || now < seconds(OUTAGE_BEGINS) || now >= seconds(OUTAGE_ENDS)) {
                connected(cell, index, now);
                return;
            }
            refused++;
            cell.release();
            watch.onFailure(cell, Failure.REFUSED);
            tried.add(index);
            if (number < ATTEMPTS && retries.tryRetry(now)) {
                timeline.after(RETRY_NANOS, () -> attempt(number + 1, tried));
            } else {
                failed++;
            }
        }

        private void connected(EndpointCell cell, int index, long now) {
            watch.onConnected(cell);
            watch.onAnswered(cell);
            if (index == SICK && now >= seconds(OUTAGE_ENDS)) {
                backNanos = backNanos < 0 ? now : backNanos;
                firstSecond += now - backNanos < seconds(1) ? 1 : 0;
                halfMinute += now - backNanos < seconds(30) ? 1 : 0;
            }
            timeline.after(LIFE.nanos(lives), cell::release);
        }

        @Override
        public void onEndpoint(EndpointCell endpoint, Change change, String why) {
            ejections += change == Change.EJECTED ? 1 : 0;
        }

        @Override
        public void onPanic(String name, boolean panic, int fit, int counted) {
            throw new IllegalStateException("panic with " + fit + " of " + counted + " fit: one of eight is sick");
        }

        @Override
        public long answered(EndpointCell endpoint) {
            return 0; // asked for only where a rate of failures ejects
        }

        @Override
        public long failures(EndpointCell endpoint) {
            return 0;
        }
    }
}
