package dev.tidegate.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reads how much memory idle and busy connections take in a proxy. Confined to the thread that compares. */
final class MemoryMeter {
    private static final int STEPS = 6;
    /** Readings this near, half a second apart, count as settled. */
    private static final long SETTLED_BYTES = 64 << 10;

    private static final int SETTLED_READINGS = 2;
    /** The first time for longer: a JVM gives its compilers' memory back some seconds after they have become idle. */
    private static final int SETTLED_READINGS_FIRST = 20;

    private static final int READINGS_MAX = 80;
    /** What is busy never settles: the median of so many is taken. */
    private static final int READINGS_BUSY = 9;

    private static final long PAUSE_MILLIS = 500;
    private static final Duration CHURN = Duration.ofSeconds(3);

    private final LoadProcess load;
    private final Jcmd jcmd;
    private final List<String> problems;

    MemoryMeter(LoadProcess load, Jcmd jcmd, List<String> problems) {
        this.load = load;
        this.jcmd = jcmd;
        this.problems = problems;
    }

    /**
     * Holds {@code from} to {@code to} idle connections in six steps and reads at each. Some load comes first, so that what a
     * process takes once (a young generation, buffers, code) is taken before the first reading and not told as the price of
     * a connection; a JVM collects before each reading.
     */
    MemorySlope measureIdle(Subject subject, int from, int to) throws IOException, InterruptedException {
        return measure(
                subject,
                from,
                to,
                step -> settledBytes(subject, step == 0 ? SETTLED_READINGS_FIRST : SETTLED_READINGS));
    }

    /** The same of connections that exchange messages of 64 bytes while memory is read, each as fast as the answers come. */
    MemorySlope measureBusy(Subject subject, int from, int to) throws IOException, InterruptedException {
        return measure(subject, from, to, step -> {
            note(subject, load.busy());
            if (step == 0) {
                for (int i = 0; i < SETTLED_READINGS_FIRST; i++) {
                    nextReading(subject);
                }
            }
            long bytes = medianBytes(subject);
            LoadResult exchanged = load.idle();
            note(subject, exchanged);
            System.err.printf("%s: %,.0f messages/s meanwhile%n", subject.name(), exchanged.perSecond());
            return bytes;
        });
    }

    /** What is read at a step, while the connections of that step are held. */
    private interface Reader {
        long bytes(int step) throws IOException, InterruptedException;
    }

    private MemorySlope measure(Subject subject, int from, int to, Reader reader)
            throws IOException, InterruptedException {
        for (Scenario scenario : List.of(Scenario.SMALL, Scenario.CONNECT)) {
            note(subject, load.run(LoadSpec.of(scenario, subject.address(), CHURN)));
        }
        List<MemorySlope.Reading> readings = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            int connections = from + (to - from) * step / (STEPS - 1);
            note(subject, load.hold(subject.address(), connections));
            long bytes = reader.bytes(step);
            readings.add(new MemorySlope.Reading(connections, bytes));
            System.err.printf("%s: %,d connections, %,d KiB%n", subject.name(), connections, bytes >> 10);
        }
        note(subject, load.release());
        return MemorySlope.through(subject.name(), readings);
    }

    private long medianBytes(Subject subject) throws IOException, InterruptedException {
        long[] readings = new long[READINGS_BUSY];
        for (int i = 0; i < readings.length; i++) {
            readings[i] = nextReading(subject);
        }
        Arrays.sort(readings);
        return readings[readings.length / 2];
    }

    private long settledBytes(Subject subject, int readingsAlike) throws IOException, InterruptedException {
        long before = Long.MIN_VALUE / 2;
        int alike = 1;
        for (int i = 0; i < READINGS_MAX; i++) {
            long now = nextReading(subject);
            alike = Math.abs(now - before) <= SETTLED_BYTES ? alike + 1 : 1;
            if (alike >= readingsAlike) {
                return now;
            }
            before = now;
        }
        problems.add(subject.name() + ": memory did not settle, the last two readings differ by more than "
                + SETTLED_BYTES + " bytes");
        return before;
    }

    /** After a pause, and after a collection. */
    private long nextReading(Subject subject) throws IOException, InterruptedException {
        if (subject.process().waitFor(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
            subject.checkAlive();
        }
        if (subject.isJvm()) {
            jcmd.ask(subject.pid(), "GC.run");
        }
        return ProcessStatus.anonymousBytes(subject.pid());
    }

    private void note(Subject subject, LoadResult result) {
        if (result.errors() > 0) {
            problems.add(subject.name() + ": " + result.errors() + " errors, first: " + result.firstError());
        }
    }
}
