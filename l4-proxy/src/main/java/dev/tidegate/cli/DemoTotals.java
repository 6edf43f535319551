package dev.tidegate.cli;

import java.util.Arrays;

/** What the demo's clients saw. Written by the demo's loop, read by any thread. */
final class DemoTotals {
    /** Latencies are those of so many requests, the newest ones. */
    private static final int WINDOW = 1024;

    private final long[] latencyNanos = new long[WINDOW];
    private long connections;
    private long answered;
    private long failed;
    private long toldToGo;

    /**
     * The counts at one moment.
     *
     * @param connections made so far
     * @param answered requests answered
     * @param failed requests without a whole answer, and connections that could not be made
     * @param toldToGo connections on which a GOAWAY came
     * @param p50Nanos the median of the newest requests' latencies; 0 before the first
     * @param p99Nanos the same for 99 of 100
     */
    record View(long connections, long answered, long failed, long toldToGo, long p50Nanos, long p99Nanos) {}

    synchronized void connected() {
        connections++;
    }

    synchronized void answered(long nanos) {
        latencyNanos[(int) (answered % WINDOW)] = nanos;
        answered++;
    }

    synchronized void failed() {
        failed++;
    }

    synchronized void toldToGo() {
        toldToGo++;
    }

    synchronized View view() {
        long[] sorted = Arrays.copyOf(latencyNanos, (int) Math.min(answered, WINDOW));
        Arrays.sort(sorted);
        return new View(connections, answered, failed, toldToGo, quantile(sorted, 50), quantile(sorted, 99));
    }

    private static long quantile(long[] sorted, int percent) {
        return sorted.length == 0 ? 0 : sorted[(sorted.length - 1) * percent / 100];
    }
}
