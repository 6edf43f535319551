package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the README's demo shows: one test that lasts as long as that, in a class of its own so that others run beside it. */
class WholeDemoTest {
    @Test
    @Tag("slow")
    @Timeout(120)
    void twentySecondsAreEnoughForTheWholeStory() {
        DemoRun demo = DemoRun.of("20s");

        assertEquals(Exit.OK, demo.exit(), demo.complained());
        String told = demo.told();
        assertAll(
                () -> assertEquals("", demo.complained()),
                () -> assertEquals(0, demo.number("requests through Tidegate; ([0-9]+) failed")),
                () -> assertTrue(told.contains("b has closed its port"), told),
                () -> assertTrue(told.contains("d has joined by the admin API"), told),
                () -> assertTrue(demo.number("\\bd took ([0-9]+)") > 0),
                () -> assertTrue(told.contains("| a draining: "), told),
                () -> assertTrue(told.contains("| a draining:  0 in flight"), told),
                () -> assertTrue(told.contains("a is undrained by the admin API"), told),
                () -> assertTrue(demo.number("([0-9]+) left between two requests") > 0),
                () -> assertEquals(0, demo.number("([0-9]+) were cut")),
                // Those that never leave: stuck without a limit, spread within a lifetime with one.
                () -> assertTrue(told.contains("they stayed there (8/0/0/0 on a, b, c, d)"), told),
                () -> assertTrue(
                        Pattern.compile("With max-age 4s they were spread \\([0-4](/[0-4]){3}\\)")
                                .matcher(told)
                                .find(),
                        told),
                () -> assertTrue(demo.number("\\n([0-9]+)\\.[0-9] s after that") <= 8, told),
                () -> assertEquals(0, demo.number("requests were answered, ([0-9]+) failed")),
                () -> assertTrue(demo.number("([0-9]+) connections took over") >= 2 * DemoCrowd.FEW, told),
                // All but the last ones, by HTTP/2.
                () -> assertTrue(
                        demo.number("([0-9]+) by GOAWAY")
                                >= demo.number("([0-9]+) connections took over") - DemoCrowd.FEW,
                        told));
    }
}
