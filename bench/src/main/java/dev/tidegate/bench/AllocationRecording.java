package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.OptionalLong;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * How much the threads of a JVM allocate on its heap from a begin to an end, by its own count: a flight recording that has
 * nothing but the counters of the threads, once at either end, and costs nothing meanwhile.
 *
 * <p>Confined to the thread that compares.
 */
final class AllocationRecording {
    private static final int TRIES = 3;
    private static final String NAME = "allocation";
    private static final String EVENT = "jdk.ThreadAllocationStatistics";
    private static final String SETTINGS = """
            <?xml version="1.0" encoding="UTF-8"?>
            <configuration version="2.0">
              <event name="%s">
                <setting name="enabled">true</setting>
                <setting name="period">everyChunk</setting>
              </event>
            </configuration>
            """.formatted(EVENT);
    /** What these allocate is the recording's own, and the asking for it. */
    private static final List<String> NOT_COUNTED = List.of("JFR ", "Attach Listener");

    private final Jcmd jcmd;
    private final long pid;
    private final Path file;

    private AllocationRecording(Jcmd jcmd, long pid, Path file) {
        this.jcmd = jcmd;
        this.pid = pid;
        this.file = file;
    }

    /** What was done meanwhile, and how many bytes the threads that live at its end have allocated since its begin. */
    record During<T>(T result, long bytes) {}

    /** What is done between begin and end. */
    interface Work<T> {
        T run() throws IOException, InterruptedException;
    }

    /**
     * Records while that is done; once more, up to three times, where the recording does not tell. That was seen once, of a JVM 17 on
     * a busy machine.
     *
     * @param directory where the recording is while it is read
     * @throws IOException when it does not tell any time, or as the work does
     */
    static <T> During<T> during(Jcmd jcmd, long pid, Path directory, Work<T> work)
            throws IOException, InterruptedException {
        for (int i = 0; i < TRIES; i++) {
            AllocationRecording recording = start(jcmd, pid, directory);
            T result = work.run();
            OptionalLong bytes = recording.stop();
            if (bytes.isPresent()) {
                return new During<>(result, bytes.getAsLong());
            }
        }
        throw new IOException(
                TRIES + " recordings of process " + pid + " have no " + EVENT + " of their begin and of their end");
    }

    private static AllocationRecording start(Jcmd jcmd, long pid, Path directory) throws IOException {
        Path settings = Files.writeString(directory.resolve("allocation.jfc"), SETTINGS);
        Path file = directory.resolve("allocation-" + pid + ".jfr");
        jcmd.ask(pid, "JFR.start", "name=" + NAME, "settings=" + settings, "filename=" + file);
        return new AllocationRecording(jcmd, pid, file);
    }

    private OptionalLong stop() throws IOException {
        jcmd.ask(pid, "JFR.stop", "name=" + NAME);
        List<Count> counts = new ArrayList<>();
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                RecordedEvent event = events.readEvent();
                if (event.getEventType().getName().equals(EVENT) && isCounted(event.getThread("thread"))) {
                    counts.add(new Count(
                            event.getThread("thread").getId(), event.getStartTime(), event.getLong("allocated")));
                }
            }
        }
        Files.delete(file);
        return between(counts);
    }

    /** What a thread had allocated at a moment since it began. */
    record Count(long thread, Instant moment, long bytes) {}

    /**
     * What the threads that are counted at the end have allocated since the begin; empty when there is no begin and end, or no
     * thread has allocated a byte, which a warm one hardly can. The two countings are told apart by the middle
     * between first and last.
     */
    static OptionalLong between(List<Count> counts) {
        LongSummaryStatistics millis = counts.stream()
                .mapToLong(count -> count.moment().toEpochMilli())
                .summaryStatistics();
        if (millis.getCount() == 0 || millis.getMin() == millis.getMax()) {
            return OptionalLong.empty();
        }
        long middle = millis.getMin() + (millis.getMax() - millis.getMin()) / 2;
        Map<Long, Long> begin = new HashMap<>();
        Map<Long, Long> end = new HashMap<>();
        for (Count count : counts) {
            (count.moment().toEpochMilli() <= middle ? begin : end).put(count.thread(), count.bytes());
        }
        long bytes = end.entrySet().stream()
                .mapToLong(thread -> thread.getValue() - begin.getOrDefault(thread.getKey(), 0L))
                .sum();
        return bytes == 0 ? OptionalLong.empty() : OptionalLong.of(bytes);
    }

    private static boolean isCounted(RecordedThread thread) {
        return thread != null
                && thread.getJavaName() != null
                && NOT_COUNTED.stream().noneMatch(thread.getJavaName()::startsWith);
    }
}
