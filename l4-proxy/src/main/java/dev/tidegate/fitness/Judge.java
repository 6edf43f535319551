package dev.tidegate.fitness;

import dev.tidegate.lifetime.Ticker;
import dev.tidegate.model.Backend;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness.Unfit;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Judges the endpoints of all backends: by what checks say and by how connections fare, it says who is fit.
 *
 * <p>Confined to control's thread, but for the watches that it gives out, and {@link #standing}.
 */
public final class Judge {
    private final Ticker ticker;
    private final InstantSource clock;
    private final RandomGenerator random;
    private final Chronicle chronicle;
    private final Tally tally;
    private final Executor control;
    private final Map<String, BackendJudge> backends = new ConcurrentHashMap<>(); // writer: control

    /**
     * @param ticker monotonic time
     * @param clock the time of day, for operators
     * @param random for the jitter of returns
     * @param chronicle is told each change
     * @param tally what workers have counted
     * @param control carries out on control's thread what watches report; may refuse when all is over
     */
    public Judge(
            Ticker ticker,
            InstantSource clock,
            RandomGenerator random,
            Chronicle chronicle,
            Tally tally,
            Executor control) {
        this.ticker = ticker;
        this.clock = clock;
        this.random = random;
        this.chronicle = chronicle;
        this.tally = tally;
        this.control = control;
    }

    /** What workers tell of the endpoints of a backend with this policy. */
    public EndpointWatch watch(String backend, FitnessPolicy policy) {
        return policy.outlier().isEmpty() && policy.breaker().isEmpty()
                ? EndpointWatch.NONE
                : new Watch(policy, new Reporter(backend));
    }

    /** Brings what workers tell to control's thread. */
    private final class Reporter implements Watch.Reports {
        private final String backend;

        Reporter(String backend) {
            this.backend = backend;
        }

        @Override
        public void onFailures(EndpointCell endpoint, Failure last, int inRow) {
            control.execute(() -> {
                BackendJudge judge = backends.get(backend);
                if (judge != null) {
                    judge.onFailures(endpoint, last, inRow, ticker.nanoTime());
                }
            });
        }

        @Override
        public void onConnectFailures(EndpointCell endpoint, Failure last, int inRow) {
            control.execute(() -> {
                BackendJudge judge = backends.get(backend);
                if (judge != null) {
                    judge.onConnectFailures(endpoint, last, inRow, ticker.nanoTime());
                }
            });
        }

        @Override
        public void onTrialPassed(EndpointCell endpoint) {
            control.execute(() -> {
                BackendJudge judge = backends.get(backend);
                if (judge != null) {
                    judge.onTrialPassed(endpoint, ticker.nanoTime());
                }
            });
        }
    }

    /**
     * Judges these from now on. To be called before their snapshot is published.
     *
     * @param policies by the name of the backend
     * @param atStart whether the process starts
     */
    public void follow(List<Backend> all, Map<String, FitnessPolicy> policies, boolean atStart) {
        backends.keySet().retainAll(all.stream().map(Backend::name).collect(Collectors.toSet()));
        for (Backend backend : all) {
            backends.computeIfAbsent(backend.name(), missing -> new BackendJudge(clock, random, chronicle, tally))
                    .follow(backend, policies.get(backend.name()), atStart, ticker.nanoTime());
        }
    }

    /**
     * Checks say so.
     *
     * @param unfit {@link Unfit#DOWN}, {@link Unfit#NOT_READY} or {@link Unfit#UNCHECKED}; null: it is up
     * @param news told once it stands, and before what follows from it, such as a panic; not for one that is not judged
     */
    public void onChecked(EndpointCell endpoint, Unfit unfit, Runnable news) {
        BackendJudge judge = backends.get(endpoint.backend());
        if (judge != null) {
            judge.onChecked(endpoint, unfit, news, ticker.nanoTime());
        }
    }

    /** A check has not found it fit, though that changes nothing: one that is down at first stays down. */
    public void onFoundUnfit(EndpointCell endpoint) {
        BackendJudge judge = backends.get(endpoint.backend());
        if (judge != null) {
            judge.onFoundUnfit(endpoint);
        }
    }

    /**
     * Does what time brings, and looks again at what is not judged here, such as names that have been resolved.
     *
     * @return whether time is going to bring more
     */
    public boolean tick() {
        boolean more = false;
        for (BackendJudge judge : backends.values()) {
            more |= judge.tick(ticker.nanoTime());
        }
        return more;
    }

    /** What is thought of an endpoint besides its checks. Any thread. */
    public Standing standing(EndpointCell endpoint) {
        BackendJudge judge = backends.get(endpoint.backend());
        Judged judged = judge == null ? null : judge.of(endpoint);
        return judged == null ? Standing.GOOD : judged.standing;
    }
}
