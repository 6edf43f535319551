package dev.tidegate.proxy;

import dev.tidegate.testkit.Await;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;

/** The CPU time, user and system, that the thread of worker 0 uses. */
final class WorkerCpu {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final long id;

    private WorkerCpu(long id) {
        this.id = id;
    }

    /** Finds the thread; there must be one proxy, with one worker. */
    static WorkerCpu find() {
        long found = -1;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("tidegate-worker-0") && thread.isAlive()) {
                if (found >= 0) {
                    throw new AssertionError("two workers run; a proxy of another test was not closed");
                }
                found = thread.getId();
            }
        }
        if (found < 0) {
            throw new AssertionError("no thread tidegate-worker-0 runs");
        }
        return new WorkerCpu(found);
    }

    long nanos() {
        return THREADS.getThreadCpuTime(id);
    }

    /** The share of one core that it uses over {@code time} from now, in percent. */
    long percentOver(Duration time) {
        long startNanos = System.nanoTime();
        long before = nanos();
        Await.until(
                "the measure's time is over",
                time.plusSeconds(5),
                () -> System.nanoTime() - startNanos >= time.toNanos());
        return (nanos() - before) * 100 / (System.nanoTime() - startNanos);
    }
}
