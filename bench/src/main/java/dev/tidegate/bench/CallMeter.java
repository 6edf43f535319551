package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Counts what a proxy asks of the kernel for each connection, by {@code strace -c}. What is counted is not slowed down evenly, so
 * that no time of such a run says anything; and under strace fewer events are waiting at each turn, so that there are more turns.
 *
 * <p>Confined to the thread that compares.
 */
final class CallMeter {
    private static final Duration WINDOW = Duration.ofSeconds(2);
    private static final long ATTACH_SECONDS = 10;
    /** Of a summary's columns: share of time, seconds, microseconds a call, calls, perhaps errors, name. */
    private static final int CALLS_COLUMN = 3;

    /**
     * What was counted. Immutable.
     *
     * @param connections while it was
     * @param calls by name, the most frequent first
     */
    record Calls(String subject, long connections, Map<String, Long> calls) {
        double perConnection() {
            return calls.values().stream().mapToLong(Long::longValue).sum() / (double) connections;
        }

        double perConnection(String call) {
            return calls.get(call) / (double) connections;
        }
    }

    private final LoadProcess load;
    private final Children children;
    private final Path directory;
    private final List<String> problems;

    CallMeter(LoadProcess load, Children children, Path directory, List<String> problems) {
        this.load = load;
        this.children = children;
        this.directory = directory;
        this.problems = problems;
    }

    Calls measure(Subject subject) throws IOException, InterruptedException {
        LoadSpec spec = LoadSpec.of(Scenario.CONNECT, subject.address(), WINDOW);
        load.run(spec); // what is done once is done
        Path summary = directory.resolve(subject.name() + ".calls");
        Path said = directory.resolve(subject.name() + ".strace");
        Process strace = children.start(
                new ProcessBuilder("strace", "-c", "-f", "-o", summary.toString(), "-p", Long.toString(subject.pid()))
                        .redirectErrorStream(true)
                        .redirectOutput(said.toFile()));
        awaitAttached(strace, subject, said);
        LoadResult result = load.run(spec);
        children.stop(strace);
        if (result.errors() > 0) {
            problems.add(subject.name() + ", calls: " + result.errors() + " errors, first: " + result.firstError());
        }
        return new Calls(subject.name(), result.totalCount(), parse(Files.readAllLines(summary)));
    }

    /** It says so in one line, for all threads at once. */
    private static void awaitAttached(Process strace, Subject subject, Path said)
            throws IOException, InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(ATTACH_SECONDS);
        while (!Files.readString(said).contains(" attached")) {
            if (strace.waitFor(50, TimeUnit.MILLISECONDS) || System.nanoTime() - deadlineNanos >= 0) {
                throw new IOException("strace does not attach to " + subject.name() + " (pid " + subject.pid() + "): "
                        + Files.readString(said).strip());
            }
        }
    }

    /** Reads what {@code strace -c} writes. */
    static Map<String, Long> parse(List<String> summary) {
        List<Map.Entry<String, Long>> calls = new ArrayList<>();
        for (String line : summary) {
            String[] columns = line.strip().split("\\s+", -1);
            String name = columns[columns.length - 1];
            if (columns.length > CALLS_COLUMN + 1 && columns[CALLS_COLUMN].matches("\\d+") && !name.equals("total")) {
                calls.add(Map.entry(name, Long.parseLong(columns[CALLS_COLUMN])));
            }
        }
        calls.sort(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder()));
        Map<String, Long> sorted = new LinkedHashMap<>();
        calls.forEach(call -> sorted.put(call.getKey(), call.getValue()));
        return sorted;
    }
}
