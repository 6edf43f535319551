package dev.tidegate.bench.sim;

/** What a server is asked for, and who has sent it there. */
final class Job {
    final long arrivedNanos;
    final long workNanos;
    final Balancer via;
    final int endpoint;
    long startedNanos;

    Job(long arrivedNanos, long workNanos, Balancer via, int endpoint) {
        this.arrivedNanos = arrivedNanos;
        this.workNanos = workNanos;
        this.via = via;
        this.endpoint = endpoint;
    }
}
