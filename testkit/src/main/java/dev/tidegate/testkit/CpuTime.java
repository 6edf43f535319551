package dev.tidegate.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * CPU time, user and system together, of a process or of a thread: how a test sees that nothing spins.
 *
 * <pre>{@code
 * Duration before = CpuTime.ofThreads("tidegate-worker");
 * }</pre>
 */
public final class CpuTime {
    /** Linux gives /proc times in USER_HZ, which is 100 on every platform that Tidegate runs on. */
    private static final long NANOS_PER_TICK = 10_000_000;

    private CpuTime() {}

    /** Of all threads of process {@code pid} so far, to 10 ms. */
    public static Duration ofProcess(long pid) {
        Path stat = Path.of("/proc", Long.toString(pid), "stat");
        try {
            return parse(Files.readString(stat));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + stat, e);
        }
    }

    /**
     * Of this JVM's live threads whose name starts with {@code prefix}, to the nanosecond.
     *
     * @throws AssertionError when there is none
     */
    public static Duration ofThreads(String prefix) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long nanos = 0;
        int found = 0;
        for (ThreadInfo info : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (info != null && info.getThreadName().startsWith(prefix)) {
                // -1: it has ended since it was listed.
                nanos += Math.max(0, threads.getThreadCpuTime(info.getThreadId()));
                found++;
            }
        }
        if (found == 0) {
            throw new AssertionError("no live thread has a name that starts with \"" + prefix + "\"");
        }
        return Duration.ofNanos(nanos);
    }

    /** The command in parentheses may hold anything, spaces and parentheses too; utime and stime are the 12th and 13th after. */
    static Duration parse(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        long ticks = Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
        return Duration.ofNanos(ticks * NANOS_PER_TICK);
    }
}
