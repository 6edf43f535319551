package dev.tidegate.bench.sim;

import java.util.PriorityQueue;

/**
 * All jobs at once, each at its part of the speed (processor sharing): what a host does with its connections. Work is kept
 * in a time of its own that goes slower the more share it, so that each job ends at a time of that which never changes.
 */
final class SharingServer implements Server, Happening {
    private record Share(Job job, double endsAt) {}

    private final Timeline timeline;
    private final Listener listener;
    private final PriorityQueue<Share> shares =
            new PriorityQueue<>((one, other) -> Double.compare(one.endsAt(), other.endsAt()));
    private double shareTime;
    private long lastNanos;
    private long dueNanos = Long.MAX_VALUE;

    SharingServer(Timeline timeline, Listener listener) {
        this.timeline = timeline;
        this.listener = listener;
    }

    @Override
    public void accept(Job job) {
        advance();
        job.startedNanos = timeline.nanoTime();
        shares.add(new Share(job, shareTime + job.workNanos));
        plan();
    }

    @Override
    public void happen() {
        if (timeline.nanoTime() != dueNanos) {
            return; // planned before others came or went
        }
        advance();
        Job done = shares.remove().job();
        plan();
        listener.onDone(done);
    }

    private void advance() {
        long now = timeline.nanoTime();
        if (!shares.isEmpty()) {
            shareTime += (double) (now - lastNanos) / shares.size();
        }
        lastNanos = now;
    }

    private void plan() {
        if (shares.isEmpty()) {
            dueNanos = Long.MAX_VALUE;
            return;
        }
        double left = Math.max(0, shares.element().endsAt() - shareTime);
        dueNanos = timeline.nanoTime() + Math.round(left * shares.size());
        timeline.at(dueNanos, this);
    }

    @Override
    public int jobs() {
        return shares.size();
    }
}
