package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ReportTest {
    private static final Trial SMALL = Trial.named("small");
    private static final Trial UPLOAD = Trial.named("upload@8");

    private final Measurements measured = new Measurements();

    @Test
    void tidegateIsHeldAgainstTheBareForwarderOfItsOwnTransportAlone() {
        rounds(SMALL, "bare-io_uring", 10, 10, 10);
        rounds(SMALL, "bare-io_uring-multishot", 1, 1, 1);
        rounds(SMALL, "tidegate-io_uring", 9, 10.5, 13);
        rounds(SMALL, "bare-epoll", 10, 10, 10);
        rounds(SMALL, "tidegate-epoll", 9, 12, 13);
        rounds(SMALL, "tidegate-nio", 10, 10, 10);

        String report = targets(SMALL);

        assertEquals(
                List.of(
                        "| CPU of a request, `small` | io_uring | 0.90–1.05–1.30 | 1.10 met | 1.00 **missed** |",
                        "| CPU of a request, `small` | epoll | 0.90–1.20–1.30 | 1.10 **missed** | 1.00 **missed** |"),
                rows(report));
        assertFalse(report.contains("ratios to haproxy"), report);
    }

    @Test
    void eachTrialThatHasACostHasATargetOfItsOwn() {
        Trial latency = Trial.named("latency@50");
        for (Trial trial : List.of(SMALL, UPLOAD, latency)) {
            rounds(trial, "bare-epoll", 10);
            rounds(trial, "tidegate-epoll", 10);
        }

        assertEquals(
                List.of(
                        "| CPU of a request, `small` | epoll | 1.00–1.00–1.00 | 1.10 met | 1.00 met |",
                        "| CPU of a MiB, `upload@8` | epoll | 1.00–1.00–1.00 | 1.10 met | 1.00 met |"),
                rows(targets(SMALL, UPLOAD, latency)));
    }

    @Test
    void aTableOfTargetsStandsThereOnlyWhereWhatItNeedsWasRun() {
        rounds(UPLOAD, Subject.HAPROXY, 10);
        rounds(UPLOAD, "tidegate-epoll", 10);
        assertEquals("", targets(UPLOAD), "an upload has no target beside HAProxy");

        rounds(SMALL, Subject.HAPROXY, 10);
        assertEquals("", targets(SMALL), "nothing to hold against it");

        rounds(SMALL, "tidegate-epoll", 8);
        assertTrue(targets(SMALL).startsWith("### Targets, as ratios to haproxy"));
        assertEquals(
                List.of("| CPU of a small request | 0.80 | 1.05 met | 1.00 met | 0.80 | 1.15 met |"),
                rows(targets(SMALL)));
    }

    @Test
    void aStartIsHeldAgainstThePlainOneOfTheSameJavaAndRound() {
        StartMeter.Way old = new StartMeter.Way(Path.of("a"), "17", false, false);
        StartMeter.Way recent = new StartMeter.Way(Path.of("b"), "25", false, false);
        StartMeter.Way archived = new StartMeter.Way(Path.of("b"), "25", true, true);
        Map<StartMeter.Way, List<StartMeter.Figures>> figures = new LinkedHashMap<>();
        figures.put(old, List.of(start(1_000), start(1_000)));
        figures.put(recent, List.of(start(400), start(800)));
        figures.put(archived, List.of(start(200), start(200)));

        String report = new Report().starts(figures).toString();

        assertTrue(report.contains("| Java 17 | 1,000–1,000–1,000 | 1.00–1.00–1.00 |"), report);
        assertTrue(report.contains("| Java 25, archive, warm-up | 200–200–200 | 0.25–0.38–0.50 |"), report);
        assertTrue(report.contains("| 500–500–500 | 0.50–0.50–0.50 |"), report);
    }

    @Test
    void allocationIsToldWithWhatItIsFor() {
        String report = new Report()
                .allocation(List.of(new AllocationMeter.Allocated("tidegate-epoll", 4_711.4, 0.006)))
                .toString();

        assertTrue(report.endsWith("| tidegate-epoll | 4,711 | 0.01 |\n\n"), report);
        assertEquals("", new Report().allocation(List.of()).toString(), "no JVM was among the rows");
    }

    private static StartMeter.Figures start(double readyMillis) {
        return new StartMeter.Figures(readyMillis, 1, 10, 500, 1_000);
    }

    private String targets(Trial... trials) {
        return new Report().targets(List.of(trials), measured).toString();
    }

    private static List<String> rows(String report) {
        return Stream.of(report.split("\n", -1))
                .filter(line -> line.startsWith("| CPU"))
                .toList();
    }

    /** One round each of so many microseconds a unit. */
    private void rounds(Trial trial, String subject, double... cpuMicros) {
        long count = 10 * trial.scenario().perUnit();
        for (double micros : cpuMicros) {
            measured.add(
                    trial, subject, new LoadResult(count, count, 1_000_000_000, (long) (10 * micros), 0, 0, 0, ""));
        }
    }
}
