package dev.tidegate.bench;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * A ratio to HAProxy that Tidegate is to stay within: the median of the rounds, on the better of io_uring and epoll.
 *
 * @param trial what it is measured by
 * @param what it is a ratio of
 * @param must what has to hold
 * @param aim what is aimed for
 */
record Target(String trial, String what, double must, double aim) {
    /** On epoll alone, which sockets from systemd need, this much more than the aim is allowed. */
    private static final double EPOLL_SHARE = 1.15;

    static final List<Target> ALL = List.of(
            new Target("small", "CPU of a small request", 1.05, 1.00),
            new Target("bulk@8", "CPU of a MiB, 8 streams", 1.15, 1.00),
            new Target("connect", "CPU of a connection", 1.45, 1.25),
            new Target("latency@50", "p99 at 50 %", 1.30, 1.10));

    ToDoubleFunction<LoadResult> value() {
        Trial of = Trial.named(trial);
        return of.scenario().paced()
                ? LoadResult::p99Nanos
                : result -> result.cpuMicrosPer(of.scenario().perUnit());
    }

    /** The row of the table: how it stands. */
    List<String> row(double uring, double epoll) {
        double better = Double.isNaN(uring) ? epoll : Double.isNaN(epoll) ? uring : Math.min(uring, epoll);
        return List.of(
                what,
                text(better),
                stand(better, must),
                stand(better, aim),
                text(epoll),
                stand(epoll, aim * EPOLL_SHARE));
    }

    /** A bound, and whether {@code value} is within it: {@code 1.45 met}. */
    static String stand(double value, double bound) {
        return text(bound) + " " + (Double.isNaN(value) ? "not measured" : value <= bound ? "met" : "**missed**");
    }

    private static String text(double value) {
        return Double.isNaN(value) ? "–" : String.format(Locale.ROOT, "%.2f", value);
    }
}
