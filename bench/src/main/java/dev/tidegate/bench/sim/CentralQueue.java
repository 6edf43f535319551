package dev.tidegate.bench.sim;

import java.util.ArrayDeque;

/**
 * One queue before all servers: what no balancer can do better than when each job must be given away at once. Exponential.
 *
 * <p>Confined to one thread; one run.
 */
final class CentralQueue implements Happening {
    private static final int BATCHES = 20;

    private final Timeline timeline = new Timeline();
    private final ArrayDeque<Long> waiting = new ArrayDeque<>(); // when they came
    private final Chance arrivals;
    private final Chance works;
    private final int servers;
    private final double gapNanos;
    private final double workNanos;
    private final long warmUp;
    private final long jobs;
    private final double[] waitOfBatch = new double[BATCHES];
    private long arrived;
    private long begun;
    private int busy;

    private CentralQueue(int servers, double utilisation, double workSeconds, long jobs, long seed) {
        this.servers = servers;
        this.workNanos = workSeconds * Work.SECOND;
        this.gapNanos = workNanos / (utilisation * servers);
        this.jobs = jobs;
        warmUp = jobs / 10;
        arrivals = new Chance(seed, 1);
        works = new Chance(seed, 2);
    }

    /**
     * What it gave; in seconds.
     *
     * @param queueing the mean
     * @param error its standard error
     */
    record Result(double queueing, double error, long events) {}

    static Result run(int servers, double utilisation, double workSeconds, long jobs, long seed) {
        return new CentralQueue(servers, utilisation, workSeconds, jobs, seed).run();
    }

    private Result run() {
        timeline.after(0, this::arrive);
        timeline.run();
        double[] means = new double[BATCHES];
        for (int i = 0; i < BATCHES; i++) {
            means[i] = waitOfBatch[i] / (jobs / (double) BATCHES) / Work.SECOND;
        }
        Moments moments = Moments.of(means);
        return new Result(moments.mean(), moments.standardError(), timeline.happened());
    }

    private void arrive() {
        arrived++;
        waiting.addLast(timeline.nanoTime());
        if (busy < servers) {
            busy++;
            begin();
        }
        if (arrived < warmUp + jobs) {
            timeline.after(Math.round(arrivals.exponential(gapNanos)), this::arrive);
        }
    }

    private void begin() {
        long wait = timeline.nanoTime() - waiting.removeFirst();
        long counted = begun++ - warmUp;
        if (counted >= 0) {
            waitOfBatch[(int) (counted * BATCHES / jobs)] += wait;
        }
        timeline.after(Math.round(works.exponential(workNanos)), this);
    }

    /** A server is free. */
    @Override
    public void happen() {
        if (waiting.isEmpty()) {
            busy--;
        } else {
            begin();
        }
    }
}
