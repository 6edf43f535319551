package dev.tidegate.health;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** Targets for tests. */
public final class Targets {
    private Targets() {}

    /** Interval 2 s, fast 1 s, time-out 1 s, jitter 10 %, rise 2, fall 3, unknown at first, no damping. */
    public static CheckPlan plan(Probe probe) {
        return plan(probe, Duration.ofSeconds(2), Duration.ofSeconds(1));
    }

    /** The same with other intervals. */
    public static CheckPlan plan(Probe probe, Duration interval, Duration fast) {
        return new CheckPlan(probe, interval.toNanos(), fast.toNanos(), 1_000_000_000L, 10, 2, 3, Condition.UNKNOWN, 0);
    }

    /** Without a source and a greeting. */
    public static Target target(String id, CheckPlan plan, InetSocketAddress... addresses) {
        return target(id, plan, Target.Greeting.NONE, addresses);
    }

    /** Without a source. */
    public static Target target(String id, CheckPlan plan, Target.Greeting greeting, InetSocketAddress... addresses) {
        return new Target(id, new ProbeContext.Subject("b", id, "unused:1"), List.of(addresses), null, greeting, plan);
    }
}
