package dev.tidegate.health;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Faults of checks themselves: each is logged once for each backend, with its stack trace, since it comes back with every
 * check. What comes after is void, and is summed as such ({@link VoidLog}). Confined to the checks' loop.
 */
final class OwnFaults {
    private static final Logger LOG = LoggerFactory.getLogger(OwnFaults.class);

    /** Beyond so many different ones, sums have to do. */
    static final int TOLD_MAX = 100;

    private final Set<Told> told = new HashSet<>();

    /** A message may differ each time; what threw it, and where, does not. */
    private record Told(String backend, String step, Class<?> probe, Class<?> fault, StackTraceElement place) {}

    /** Logs it unless that was done before. */
    void on(String step, Target target, Throwable fault) {
        StackTraceElement[] stack = fault.getStackTrace();
        Probe probe = target.plan().probe();
        Told one = new Told(
                target.subject().backend(),
                step,
                probe.getClass(),
                fault.getClass(),
                stack.length == 0 ? null : stack[0]);
        if (told.size() < TOLD_MAX && told.add(one)) {
            LOG.error(
                    "a check failed by its own fault; the same in further ones of this backend is summed: step={} backend={}"
                            + " target={} probe={}",
                    step,
                    target.subject().backend(),
                    target.id(),
                    probe,
                    fault);
        }
    }
}
