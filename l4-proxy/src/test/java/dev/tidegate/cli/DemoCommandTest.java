package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DemoCommandTest {
    private static final DemoSticky.View STICKY = new DemoSticky.View(
            List.of(8, 0, 0, 0), List.of(2, 2, 2, 2), "4s", true, 1, new DemoTotals.View(40, 400, 0, 32, 1, 1));

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        return Main.execute(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    @Test
    @Timeout(60)
    @Tag("slow")
    void aDemoEndsByItselfWithEveryEndpointUsedAndNoRequestFailed() {
        DemoRun demo = DemoRun.of("3s");

        assertEquals(Exit.OK, demo.exit(), demo.complained());
        String told = demo.told();
        assertAll(
                () -> assertEquals("", demo.complained()),
                // The status page and the way to drain are told.
                () -> assertTrue(
                        Pattern.compile("http://127\\.0\\.0\\.1:[0-9]+/ in a browser")
                                .matcher(told)
                                .find(),
                        told),
                () -> assertTrue(told.contains("curl --unix-socket /"), told),
                () -> assertEquals(0, demo.number("requests through Tidegate; ([0-9]+) failed")),
                () -> assertTrue(demo.number("carried ([0-9]+) requests") >= DemoCrowd.SIZE),
                () -> assertTrue(demo.number("\\ba took ([0-9]+)") > 0),
                () -> assertTrue(demo.number("\\bb took ([0-9]+)") > 0),
                () -> assertTrue(demo.number("\\bc took ([0-9]+)") > 0));
    }

    @Test
    void aDurationWithoutAUnitIsAUsageErrorThatSaysWhatWouldBeRight() {
        assertEquals(Exit.USAGE, execute("demo", "--for", "20"));
        assertTrue(err.toString().contains("write 20s for seconds"), err::toString);
    }

    @Test
    void anEndpointClosesAnotherJoinsAndAThirdIsDrainedWithinALap() {
        DemoStory story = new DemoStory(Duration.ofSeconds(20));

        assertAll(
                () -> assertTrue(story.isOpen(seconds(3))),
                () -> assertFalse(story.isOpen(seconds(5))),
                () -> assertTrue(story.news(seconds(5)).startsWith("b has closed its port")),
                () -> assertTrue(story.isOpen(seconds(8))),
                () -> assertTrue(story.news(seconds(8)).startsWith("b is back")),
                () -> assertFalse(story.hasJoined(seconds(8))),
                () -> assertTrue(story.hasJoined(seconds(10))),
                () -> assertTrue(story.news(seconds(10)).startsWith("d has joined")),
                () -> assertFalse(story.isDrained(seconds(10))),
                () -> assertTrue(story.isDrained(seconds(12))),
                () -> assertTrue(story.news(seconds(12)).startsWith("a is drained")),
                // A drain has its whole time.
                () -> assertTrue(story.isDrained(
                        millis(11_500) + DemoStory.DRAIN_DEADLINE.minusMillis(1).toNanos())),
                () -> assertFalse(story.isDrained(seconds(19))),
                () -> assertTrue(story.news(seconds(19)).startsWith("a is undrained")));
    }

    @Test
    void aDemoWithoutAnEndTellsItsStoryAgainButNobodyJoinsTwice() {
        DemoStory story = new DemoStory(null);

        assertFalse(story.isOpen(seconds(8)));
        assertFalse(story.isOpen(seconds(38)));
        assertTrue(story.isDrained(seconds(20)));
        assertFalse(story.isDrained(seconds(32)));
        assertTrue(story.isDrained(seconds(50)));
        assertTrue(story.hasJoined(seconds(32)));
        assertTrue(story.news(seconds(45)).startsWith("b is back"));
    }

    @Test
    void theTableIsDrawnOverItselfAndFitsInEightyColumns() {
        DemoTable table = new DemoTable(true);
        DemoView view = new DemoView(
                seconds(19),
                List.of(
                        new DemoView.Row("a", DemoView.State.READY, 1_000, 123_456, 0, 100),
                        new DemoView.Row("b", DemoView.State.DRAINING, 0, 7, 12_345, 100)),
                new DemoTotals.View(1, 1_000_000, 0, 0, 1_000_000, 12_000_000),
                3,
                5,
                0,
                STICKY,
                new DemoStory(null).news(seconds(20)));
        String first = table.draw(view);
        String second = table.draw(view);

        List<String> lines =
                first.replaceAll("\033\\[\\??[0-9]*[A-Za-z]", "").lines().toList();
        assertTrue(second.startsWith("\033[1A".repeat(lines.size())), second);
        lines.forEach(line -> assertTrue(line.length() <= 80, line));
        // Wrapping is off while it draws, for terminals narrower than that, and on again afterwards.
        assertTrue(first.startsWith("\033[?7l") && first.endsWith("\033[?7h"), first);
    }

    @Test
    void anEndpointThatJoinsIsAnotherLine() {
        DemoTable table = new DemoTable(true);
        DemoView.Row a = new DemoView.Row("a", DemoView.State.READY, 3, 3, 0, 100);
        DemoView.Row d = new DemoView.Row("d", DemoView.State.READY, 1, 1, 0, 4);
        String three = table.draw(view(1, List.of(a)));
        String four = table.draw(view(2, List.of(a, d)));

        assertTrue(four.startsWith("\033[1A".repeat((int) three.lines().count() - 1)), four);
        assertEquals(three.lines().count() + 1, four.lines().count());
        assertTrue(four.contains("4\033[K"), four); // requests a second, all of them new
    }

    private static DemoView view(long second, List<DemoView.Row> rows) {
        return new DemoView(seconds(second), rows, new DemoTotals.View(4, 104, 0, 0, 1, 1), 0, 0, 0, STICKY, "news");
    }

    private static long millis(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    private static long seconds(long seconds) {
        return TimeUnit.SECONDS.toNanos(seconds);
    }
}
