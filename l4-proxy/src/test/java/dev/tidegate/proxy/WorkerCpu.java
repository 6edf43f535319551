package dev.tidegate.proxy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/** The CPU time, user and system, that the thread of worker 0 uses, and what it allocates on the heap. */
final class WorkerCpu {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

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

    /** Since it began. */
    long allocatedBytes() {
        return THREADS.getThreadAllocatedBytes(id);
    }

    /**
     * What it uses while a thread beside it, that only spins, uses {@code busy}, in percent of that. A thread that spins
     * too uses about as much, on an idle machine and on a loaded one, as both get the same share of the cores.
     */
    long percentOfASpinningThread(Duration busy) throws InterruptedException {
        long before = nanos();
        Thread spinning = new Thread(() -> spin(busy.toNanos()), "spinning");
        spinning.setDaemon(true);
        spinning.start();
        spinning.join(busy.multipliedBy(50).toMillis());
        if (spinning.isAlive()) {
            throw new AssertionError("a spinning thread got less than a fiftieth of a core");
        }
        return (nanos() - before) * 100 / busy.toNanos();
    }

    private static void spin(long cpuNanos) {
        while (THREADS.getCurrentThreadCpuTime() < cpuNanos) {
            Thread.onSpinWait();
        }
    }
}
