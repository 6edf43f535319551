package dev.tidegate.bench.sim;

import dev.tidegate.bench.chart.Series;
import java.util.Arrays;

/** Counts what becomes of the jobs of one run. Those that came in the warm-up count for nothing. */
final class Books {
    private static final int BATCHES = 20;
    private static final int LONGEST_QUEUE = 64;

    private final Farm.Plan plan;
    private final Timeline timeline;
    private final double[] sojournOfBatch = new double[BATCHES];
    private final long[] doneOfBatch = new long[BATCHES];
    private final long[] queuesSeen = new long[LONGEST_QUEUE + 1];
    private final long[] waits;
    private double waitNanos;
    private long done;
    private long arrivals;
    private long present;
    private double presentNanos;
    private long lastNanos;
    private long fromNanos = -1;
    private long toNanos = -1;

    Books(Farm.Plan plan, Timeline timeline) {
        this.plan = plan;
        this.timeline = timeline;
        waits = new long[plan.keepWaits() ? Math.toIntExact(plan.jobs()) : 0];
    }

    /** A job comes that counts, and sees so many at a server that was chosen without looking. */
    void onArrival(int queue) {
        if (fromNanos < 0) {
            fromNanos = timeline.nanoTime();
            lastNanos = fromNanos;
        }
        arrivals++;
        queuesSeen[Math.min(queue, LONGEST_QUEUE)]++;
    }

    /** There are so many more in the whole system now. */
    void onMore(int change) {
        if (fromNanos >= 0 && toNanos < 0) {
            long now = timeline.nanoTime();
            presentNanos += (double) present * (now - lastNanos);
            lastNanos = now;
        }
        present += change;
    }

    void onLastArrival() {
        toNanos = timeline.nanoTime();
    }

    void onDone(Job job) {
        if (fromNanos < 0 || job.arrivedNanos < fromNanos || done == plan.jobs()) {
            return;
        }
        long wait = job.startedNanos - job.arrivedNanos;
        if (waits.length > 0) {
            waits[(int) done] = wait;
        }
        waitNanos += wait;
        int batch = (int) (done * BATCHES / plan.jobs());
        sojournOfBatch[batch] += timeline.nanoTime() - job.arrivedNanos;
        doneOfBatch[batch]++;
        done++;
    }

    Outcome outcome() {
        double sojournNanos = Arrays.stream(sojournOfBatch).sum() / done;
        double[] means = new double[BATCHES];
        int full = 0;
        for (int i = 0; i < BATCHES; i++) {
            if (doneOfBatch[i] > 0) {
                means[full++] = sojournOfBatch[i] / doneOfBatch[i] / Work.SECOND;
            }
        }
        double[] tail = new double[LONGEST_QUEUE + 1];
        long above = 0;
        for (int i = LONGEST_QUEUE; i >= 0; i--) {
            above += queuesSeen[i];
            tail[i] = (double) above / arrivals;
        }
        long[] sorted = Arrays.copyOf(waits, (int) Math.min(waits.length, done));
        Arrays.sort(sorted);
        double seconds = (toNanos - fromNanos) / Work.SECOND;
        return new Outcome(
                sojournNanos / Work.SECOND,
                Moments.of(Arrays.copyOf(means, full)).standardError(),
                waitNanos / done / Work.SECOND,
                Series.of(sorted),
                Series.of(tail),
                presentNanos / (toNanos - fromNanos),
                arrivals / seconds,
                timeline.happened());
    }
}
