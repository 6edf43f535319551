package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What the kernel says about a running process, from {@code /proc}. */
final class ProcessStatus {
    /** The kernel tells CPU time in these; 100 a second on every Linux ABI that has a JVM. */
    private static final long MICROS_PER_TICK = 10_000;

    /** Places of utime and stime behind the command name, which is in parentheses and may hold anything. */
    private static final int UTIME = 11;

    private static final int STIME = 12;

    private ProcessStatus() {}

    /** User plus system CPU time of all threads, those that have ended too, and io_uring's kernel workers. */
    static long cpuMicros(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
        return (Long.parseLong(fields.get(UTIME)) + Long.parseLong(fields.get(STIME))) * MICROS_PER_TICK;
    }

    /** Resident memory that no file backs: heap, stacks, buffers, arenas. */
    static long anonymousBytes(long pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "smaps_rollup"))) {
            if (line.startsWith("Anonymous:")) {
                String kib =
                        line.substring("Anonymous:".length()).replace("kB", "").strip();
                return Long.parseLong(kib) << 10;
            }
        }
        throw new IOException("/proc/" + pid + "/smaps_rollup has no line \"Anonymous:\"");
    }
}
