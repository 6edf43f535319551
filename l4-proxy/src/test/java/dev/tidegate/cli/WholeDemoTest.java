package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the README's demo shows: one test that lasts as long as that, in a class of its own so that others run beside it. */
class WholeDemoTest {
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
    @Tag("slow")
    @Timeout(120)
    void twentySecondsAreEnoughForTheWholeStory() {
        assertEquals(Exit.OK, execute("demo", "--for", "20s"), err::toString);

        String told = out.toString();
        assertAll(
                () -> assertEquals("", err.toString()),
                () -> assertEquals(0, number("requests through Tidegate; ([0-9]+) failed")),
                () -> assertTrue(told.contains("b has closed its port"), told),
                () -> assertTrue(told.contains("d has joined by the admin API"), told),
                () -> assertTrue(number("\\bd took ([0-9]+)") > 0),
                () -> assertTrue(told.contains("| a draining: "), told),
                () -> assertTrue(told.contains("| a draining:  0 in flight"), told),
                () -> assertTrue(told.contains("a is undrained by the admin API"), told),
                () -> assertTrue(number("([0-9]+) left between two requests") > 0),
                () -> assertEquals(0, number("([0-9]+) were cut")),
                // Those that never leave: stuck without a limit, spread within a lifetime with one.
                () -> assertTrue(told.contains("they stayed there (8/0/0/0 on a, b, c, d)"), told),
                () -> assertTrue(
                        Pattern.compile("With max-age 4s they were spread \\([0-4](/[0-4]){3}\\)")
                                .matcher(told)
                                .find(),
                        told),
                () -> assertTrue(number("\\n([0-9]+)\\.[0-9] s after that") <= 8, told),
                () -> assertEquals(0, number("requests were answered, ([0-9]+) failed")),
                () -> assertTrue(number("([0-9]+) connections took over") >= 2 * DemoCrowd.FEW, told),
                // All but the last ones, by HTTP/2.
                () -> assertTrue(
                        number("([0-9]+) by GOAWAY") >= number("([0-9]+) connections took over") - DemoCrowd.FEW,
                        told));
    }
}
