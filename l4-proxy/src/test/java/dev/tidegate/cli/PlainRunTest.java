package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlainRunTest {
    @ParameterizedTest
    @ValueSource(strings = {"run --config /a/b.yaml --watch", "run --watch --config /a/b.yaml"})
    void theUsualCommandLinesAreUnderstood(String line) {
        assertEquals(Optional.of(new PlainRun(Path.of("/a/b.yaml"), true, false)), PlainRun.of(line.split(" ")));
    }

    @Test
    void withoutWatchNothingIsWatched() {
        assertEquals(Optional.of(new PlainRun(Path.of("c"), false, false)), PlainRun.of("run", "--config", "c"));
    }

    @Test
    void aProcessThatTakesOverStartsAsFast() {
        assertEquals(
                Optional.of(new PlainRun(Path.of("c"), false, true)),
                PlainRun.of("run", "--config", "c", "--take-over"));
    }

    /** A process that takes over is started as this one was. */
    @ParameterizedTest
    @ValueSource(strings = {"run --config c", "run --config c --watch", "run --config c --watch --take-over"})
    void itTellsItsArguments(String line) {
        assertEquals(
                List.of(line.split(" ")),
                PlainRun.of(line.split(" ")).orElseThrow().arguments());
    }

    /** What is wrong is told, and what is rare understood, by the library. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "check --config a",
                "run",
                "run --config",
                "run --config=a",
                "run --config a --config b",
                "run --watch --watch --config a",
                "run --take-over --config a --take-over",
                "run --config a --help",
                "run --config --watch",
                "run --config @a",
                "run --config \"a\"",
                "run --config a b",
                "--output json run --config a"
            })
    void anythingElseIsLeftToTheLibrary(String line) {
        assertEquals(Optional.empty(), PlainRun.of(line.split(" ")));
    }

    @Test
    void aMissingFileIsToldInTheSameWordsEitherWay() {
        StringWriter plainly = new StringWriter();
        StringWriter byLibrary = new StringWriter();

        int plain = Main.run(PlainRun.of("run", "--config", "/none").orElseThrow(), new PrintWriter(plainly, true));
        int library = Main.execute(
                new PrintWriter(new StringWriter()), new PrintWriter(byLibrary, true), "run", "--config", "/none");

        assertEquals(Exit.CONFIG, plain);
        assertEquals(library, plain);
        assertTrue(plainly.toString().contains("/none"), plainly::toString);
        assertEquals(byLibrary.toString(), plainly.toString());
    }
}
