package dev.tidegate.control;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * How many connections the process's file descriptors allow. Each connection needs two; some are kept back for listeners,
 * workers, logs, the admin API and the JVM itself, so that these work when the limit is reached. Immutable.
 *
 * @param descriptors the limit on descriptors
 * @param workers event loops, each with a few descriptors of its own (epoll, eventfd, timerfd, or a ring)
 * @param listeners listening sockets
 */
public record FdLimit(long descriptors, int workers, int listeners) {
    private static final int RESERVE = 128;
    private static final int FOR_A_WORKER = 4;

    /** What is assumed where the system tells no limit. */
    private static final long UNKNOWN = 1024;

    /** With the limit that this process has. */
    public static FdLimit ofThisProcess(int workers, int listeners) {
        return new FdLimit(limit(), workers, listeners);
    }

    private static long limit() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getMaxFileDescriptorCount()
                : UNKNOWN;
    }

    /** Descriptors kept back: 128, four for each worker, one for each listener. */
    public long reserve() {
        return RESERVE + (long) FOR_A_WORKER * workers + listeners;
    }

    /** The most connections; at least 1. */
    public int connections() {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE / 4, (descriptors - reserve()) / 2));
    }

    /** The descriptors that so many connections need. */
    public long descriptorsFor(int connections) {
        return 2L * connections + reserve();
    }
}
