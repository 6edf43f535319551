package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Reads how much a JVM allocates on its heap for each connection, and for each message on connections that are kept. Buffers
 * outside the heap are not in it; they are pooled. Confined to the thread that compares.
 */
final class AllocationMeter {
    private static final Duration WINDOW = Duration.ofSeconds(2);
    private static final int KEPT = 64;

    /**
     * What was counted. Immutable.
     *
     * @param bytesPerConnection of short connections, as in {@link Scenario#CONNECT}
     * @param bytesPerMessage there and back, on kept connections
     */
    record Allocated(String subject, double bytesPerConnection, double bytesPerMessage) {}

    private final LoadProcess load;
    private final Jcmd jcmd;
    private final Path directory;
    private final List<String> problems;

    /** @param directory where recordings are while they are read */
    AllocationMeter(LoadProcess load, Jcmd jcmd, Path directory, List<String> problems) {
        this.load = load;
        this.jcmd = jcmd;
        this.directory = directory;
        this.problems = problems;
    }

    /** Of a JVM that is warm: what is compiled may do without objects that an interpreter makes. */
    Allocated measure(Subject subject) throws IOException, InterruptedException {
        return new Allocated(subject.name(), perConnection(subject), perMessage(subject));
    }

    private double perConnection(Subject subject) throws IOException, InterruptedException {
        return perUnit(subject, () -> load.run(LoadSpec.of(Scenario.CONNECT, subject.address(), WINDOW)));
    }

    /** The connections are there before, so that they are not in it. */
    private double perMessage(Subject subject) throws IOException, InterruptedException {
        note(subject, load.hold(subject.address(), KEPT));
        double bytes = perUnit(subject, () -> {
            note(subject, load.busy());
            if (subject.process().waitFor(WINDOW.toMillis(), TimeUnit.MILLISECONDS)) {
                subject.checkAlive();
            }
            return load.idle();
        });
        note(subject, load.release());
        return bytes;
    }

    private double perUnit(Subject subject, AllocationRecording.Work<LoadResult> work)
            throws IOException, InterruptedException {
        AllocationRecording.During<LoadResult> during =
                AllocationRecording.during(jcmd, subject.pid(), directory, work);
        note(subject, during.result());
        return during.bytes() / (double) during.result().totalCount();
    }

    private void note(Subject subject, LoadResult result) {
        if (result.errors() > 0) {
            problems.add(
                    subject.name() + ", allocation: " + result.errors() + " errors, first: " + result.firstError());
        }
    }
}
