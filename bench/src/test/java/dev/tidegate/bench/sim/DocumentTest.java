package dev.tidegate.bench.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DocumentTest {
    private static final Path PAGE =
            Path.of(System.getProperty("user.dir")).resolveSibling("docs").resolve("simulation.md");

    @TempDir
    private Path temp;

    @Test
    void onlyWhatStandsBetweenTheMarksIsReplaced() throws IOException {
        Path page = temp.resolve("page.md");
        Files.writeString(page, "before\n<!-- bench/sim a -->\nold\n<!-- end -->\nafter\n");
        LineChart chart = new LineChart("Two < three", "x", "y").line("a", Series.of(0.0, 1), Series.of(0.0, 2));
        Document.update(page, "a", new Section().head("t").row("1").end().add("chart", chart));
        String text = Files.readString(page);
        assertTrue(text.startsWith("before\n<!-- bench/sim a -->\n\n| t |\n"), text);
        assertTrue(text.contains("![Two < three](page/chart.svg)"), text);
        assertTrue(text.endsWith("<!-- end -->\nafter\n"), text);
        assertTrue(Files.readString(temp.resolve("page/chart.svg")).contains("Two &lt; three"));
    }

    @Test
    void anExperimentWithoutAPlaceIsNamed() throws IOException {
        Path page = temp.resolve("page.md");
        Files.writeString(page, "nothing\n");
        String message = assertThrows(IllegalArgumentException.class, () -> Document.update(page, "a", new Section()))
                .getMessage();
        assertEquals(page + " has no line <!-- bench/sim a -->", message);
    }

    /** Everything is the same again, on every JDK; so what stands in the documentation can be asserted to the digit. */
    @ParameterizedTest
    @ValueSource(strings = {"retries", "hashing", "jitter", "joining", "sticky", "scale-out"})
    @Tag("slow")
    void thePageSaysWhatTheQuickExperimentsGive(String experiment) throws IOException {
        assertSays(experiment);
    }

    @ParameterizedTest
    @MethodSource("dev.tidegate.bench.sim.ExperimentsTest#experiments")
    @Tag("nightly")
    void thePageSaysWhatEveryExperimentGives(String experiment) throws IOException {
        assertSays(experiment);
    }

    private static void assertSays(String experiment) throws IOException {
        Section section = Catalogue.ALL.get(experiment).run(Scale.WHOLE);
        assertEquals(List.of(), ExperimentsTest.missed(section));
        assertEquals(
                Document.block("simulation", section),
                Document.read(PAGE, experiment),
                "docs/simulation.md is not what bench/sim " + experiment
                        + " gives: bench/sim --update docs/simulation.md");
    }
}
