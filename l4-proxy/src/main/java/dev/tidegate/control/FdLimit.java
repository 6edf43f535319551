package dev.tidegate.control;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * How many connections the process's file descriptors allow. Each connection needs two; some are kept back for listeners,
 * logs, the admin API and the JVM itself, so that these work when the limit is reached. Any thread.
 */
public final class FdLimit {
    /** Descriptors kept back. */
    public static final int RESERVE = 128;

    /** What is assumed where the system tells no limit. */
    private static final long UNKNOWN = 1024;

    private FdLimit() {}

    /** The process's limit on descriptors. */
    public static long descriptors() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getMaxFileDescriptorCount()
                : UNKNOWN;
    }

    /** The most connections for a limit on descriptors; at least 1. */
    public static int connections(long descriptors) {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE / 4, (descriptors - RESERVE) / 2));
    }

    /** The descriptors that so many connections need. */
    public static long descriptorsFor(int connections) {
        return 2L * connections + RESERVE;
    }
}
