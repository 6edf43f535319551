package dev.tidegate.bench.sim;

import java.util.ArrayDeque;

/** One job at a time, first come, first served. */
final class QueueServer implements Server, Happening {
    private final Timeline timeline;
    private final Listener listener;
    private final ArrayDeque<Job> queue = new ArrayDeque<>(); // the first is under work

    QueueServer(Timeline timeline, Listener listener) {
        this.timeline = timeline;
        this.listener = listener;
    }

    @Override
    public void accept(Job job) {
        queue.addLast(job);
        if (queue.size() == 1) {
            start(job);
        }
    }

    private void start(Job job) {
        job.startedNanos = timeline.nanoTime();
        timeline.after(job.workNanos, this);
    }

    @Override
    public void happen() {
        Job done = queue.removeFirst();
        if (!queue.isEmpty()) {
            start(queue.getFirst());
        }
        listener.onDone(done);
    }

    @Override
    public int jobs() {
        return queue.size();
    }
}
