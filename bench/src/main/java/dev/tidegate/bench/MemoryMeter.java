package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reads how much memory idle connections take in a proxy. Confined to the thread that compares. */
final class MemoryMeter {
    private static final int STEPS = 6;
    /** Readings this near, half a second apart, count as settled. */
    private static final long SETTLED_BYTES = 64 << 10;

    private static final int SETTLED_READINGS = 2;
    /** The first time for longer: a JVM gives its compilers' memory back some seconds after they have become idle. */
    private static final int SETTLED_READINGS_FIRST = 20;

    private static final int READINGS_MAX = 80;
    private static final Duration CHURN = Duration.ofSeconds(3);

    private final LoadProcess load;
    private final String jcmd;
    private final List<String> problems;

    MemoryMeter(LoadProcess load, String java, List<String> problems) throws IOException {
        this.load = load;
        Path beside = Files.isSymbolicLink(Path.of(java)) ? Path.of(java).toRealPath() : Path.of(java);
        Path jcmdBeside = beside.resolveSibling("jcmd");
        this.jcmd = Files.isExecutable(jcmdBeside) ? jcmdBeside.toString() : "jcmd";
        this.problems = problems;
    }

    /**
     * Holds {@code from} to {@code to} connections in six steps and reads at each. Some load comes first, so that what a
     * process takes once (a young generation, buffers, code) is taken before the first reading and not told as the price of
     * a connection; a JVM collects before each reading.
     */
    MemorySlope measure(Subject subject, int from, int to) throws IOException, InterruptedException {
        for (Scenario scenario : List.of(Scenario.SMALL, Scenario.CONNECT)) {
            note(subject, load.run(LoadSpec.of(scenario, subject.address(), CHURN)));
        }
        List<MemorySlope.Reading> readings = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            int connections = from + (to - from) * step / (STEPS - 1);
            note(subject, load.hold(subject.address(), connections));
            long bytes = settledBytes(subject, step == 0 ? SETTLED_READINGS_FIRST : SETTLED_READINGS);
            readings.add(new MemorySlope.Reading(connections, bytes));
            System.err.printf("%s: %,d connections, %,d KiB%n", subject.name(), connections, bytes >> 10);
        }
        note(subject, load.release());
        return MemorySlope.through(subject.name(), readings);
    }

    private long settledBytes(Subject subject, int readingsAlike) throws IOException, InterruptedException {
        long before = Long.MIN_VALUE / 2;
        int alike = 1;
        for (int i = 0; i < READINGS_MAX; i++) {
            if (subject.isJvm()) {
                Tool.output(jcmd, Long.toString(subject.pid()), "GC.run");
            }
            long now = ProcessStatus.anonymousBytes(subject.pid());
            alike = Math.abs(now - before) <= SETTLED_BYTES ? alike + 1 : 1;
            if (alike >= readingsAlike) {
                return now;
            }
            before = now;
            if (subject.process().waitFor(500, TimeUnit.MILLISECONDS)) {
                subject.checkAlive();
            }
        }
        problems.add(subject.name() + ": memory did not settle, the last two readings differ by more than "
                + SETTLED_BYTES + " bytes");
        return before;
    }

    private void note(Subject subject, LoadResult result) {
        if (result.errors() > 0) {
            problems.add(subject.name() + ": " + result.errors() + " errors, first: " + result.firstError());
        }
    }
}
