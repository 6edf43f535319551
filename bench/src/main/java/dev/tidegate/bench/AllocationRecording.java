package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
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

    /** Begins one; {@code directory} is where it will be. */
    static AllocationRecording start(Jcmd jcmd, long pid, Path directory) throws IOException {
        Path settings = Files.writeString(directory.resolve("allocation.jfc"), SETTINGS);
        Path file = directory.resolve("allocation-" + pid + ".jfr");
        jcmd.ask(pid, "JFR.start", "name=" + NAME, "settings=" + settings, "filename=" + file);
        return new AllocationRecording(jcmd, pid, file);
    }

    /** Ends it; how many bytes those threads have allocated since its begin that live at its end. */
    long stop() throws IOException {
        jcmd.ask(pid, "JFR.stop", "name=" + NAME);
        // All threads are counted at one moment, which their events carry.
        NavigableMap<Instant, Map<Long, Long>> counts = new TreeMap<>();
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                RecordedEvent event = events.readEvent();
                if (event.getEventType().getName().equals(EVENT) && isCounted(event.getThread("thread"))) {
                    counts.computeIfAbsent(event.getStartTime(), moment -> new HashMap<>())
                            .put(event.getThread("thread").getId(), event.getLong("allocated"));
                }
            }
        }
        Files.delete(file);
        if (counts.size() < 2) {
            throw new IOException(
                    "the recording of process " + pid + " has no " + EVENT + " of its begin and of its end");
        }
        Map<Long, Long> begin = counts.firstEntry().getValue();
        return counts.lastEntry().getValue().entrySet().stream()
                .mapToLong(thread -> thread.getValue() - begin.getOrDefault(thread.getKey(), 0L))
                .sum();
    }

    private static boolean isCounted(RecordedThread thread) {
        return thread != null
                && thread.getJavaName() != null
                && NOT_COUNTED.stream().noneMatch(thread.getJavaName()::startsWith);
    }
}
