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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DemoCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        return Main.execute(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    private long number(String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(out.toString());
        assertTrue(matcher.find(), () -> pattern + " is not in:\n" + out);
        return Long.parseLong(matcher.group(1));
    }

    @Test
    @Timeout(60)
    void aDemoEndsByItselfWithEveryEndpointUsedAndNoRequestFailed() {
        assertEquals(Exit.OK, execute("demo", "--for", "3s"), err::toString);

        assertAll(
                () -> assertEquals("", err.toString()),
                () -> assertEquals(0, number("requests through Tidegate; ([0-9]+) failed")),
                () -> assertTrue(number("carried ([0-9]+) requests") >= DemoCrowd.SIZE),
                () -> assertTrue(number("\\ba took ([0-9]+)") > 0),
                () -> assertTrue(number("\\bb took ([0-9]+)") > 0),
                () -> assertTrue(number("\\bc took ([0-9]+)") > 0));
    }

    @Test
    void aDurationWithoutAUnitIsAUsageErrorThatSaysWhatWouldBeRight() {
        assertEquals(Exit.USAGE, execute("demo", "--for", "20"));
        assertTrue(err.toString().contains("write 20s for seconds"), err::toString);
    }

    @Test
    void theEndpointOfTheStoryClosesAfterAThirdOfTheTimeAndComesBack() {
        DemoStory story = new DemoStory(Duration.ofSeconds(15));

        assertAll(
                () -> assertTrue(story.isOpen(seconds(4))),
                () -> assertFalse(story.isOpen(seconds(6))),
                () -> assertTrue(story.news(seconds(6), "b").startsWith("b has closed its port")),
                () -> assertTrue(story.isOpen(seconds(9))),
                () -> assertTrue(story.news(seconds(9), "b").startsWith("b is back")));
    }

    @Test
    void aDemoWithoutAnEndTellsItsStoryAgain() {
        DemoStory story = new DemoStory(null);

        assertFalse(story.isOpen(seconds(12)));
        assertFalse(story.isOpen(seconds(42)));
    }

    @Test
    void theTableIsDrawnOverItselfAndFitsInEightyColumns() {
        DemoTable table = new DemoTable(true);
        DemoView view = new DemoView(
                seconds(19),
                List.of(
                        new DemoView.Row("a", true, 1_000, 123_456, 0, 100),
                        new DemoView.Row("b", false, 0, 7, 12_345, 100)),
                new DemoTotals.View(1, 1_000_000, 0, 1_000_000, 12_000_000),
                3,
                new DemoStory(null).news(seconds(12), "b"));
        String first = table.draw(view);
        String second = table.draw(view);

        List<String> lines =
                first.replaceAll("\033\\[\\??[0-9]*[A-Za-z]", "").lines().toList();
        assertTrue(second.startsWith("\033[1A".repeat(lines.size())), second);
        lines.forEach(line -> assertTrue(line.length() <= 80, line));
        // Wrapping is off while it draws, for terminals narrower than that, and on again afterwards.
        assertTrue(first.startsWith("\033[?7l") && first.endsWith("\033[?7h"), first);
    }

    private static long seconds(long seconds) {
        return TimeUnit.SECONDS.toNanos(seconds);
    }
}
