package dev.tidegate.health;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of checks that could not be carried out: one line for each backend, at most one a minute, with what has come since
 * its last; and 10 in a minute of all, since what lacks here may be lacking for all alike. Confined to the checks' loop.
 */
final class VoidLog {
    private static final Logger LOG = LoggerFactory.getLogger(VoidLog.class);
    private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);
    static final int LINES_MAX = 10;

    private final Map<String, Untold> backends = new HashMap<>();
    private long minuteNanos = -PERIOD_NANOS;
    private int lines; // since minuteNanos

    /** What has come of one backend since its last line. */
    private static final class Untold {
        private long toldNanos = -PERIOD_NANOS;
        private long count;
        private String target;
        private String why;

        boolean isDue(long nowNanos) {
            return count > 0 && nowNanos - toldNanos >= PERIOD_NANOS;
        }
    }

    void on(Target target, String why, long nowNanos) {
        Untold untold = backends.computeIfAbsent(target.subject().backend(), first -> new Untold());
        untold.count++;
        untold.target = target.id();
        untold.why = why;
        if (nowNanos - minuteNanos >= PERIOD_NANOS) {
            minuteNanos = nowNanos;
            lines = 0;
        }
        if (lines < LINES_MAX) {
            // Whoever has waited longest: else those checked most often would take every line.
            backends.entrySet().stream()
                    .filter(entry -> entry.getValue().isDue(nowNanos))
                    .min(Comparator.comparingLong(entry -> entry.getValue().toldNanos))
                    .ifPresent(entry -> tell(entry.getKey(), entry.getValue(), nowNanos));
        }
    }

    private void tell(String backend, Untold untold, long nowNanos) {
        LOG.warn(
                "checks could not be carried out and say nothing about their targets: backend={} count={} last={} why=\"{}\"",
                backend,
                untold.count,
                untold.target,
                untold.why);
        lines++;
        untold.toldNanos = nowNanos;
        untold.count = 0;
    }

    /** Forgets the backends that are no more. */
    void keep(Set<String> known) {
        backends.keySet().retainAll(known);
    }
}
