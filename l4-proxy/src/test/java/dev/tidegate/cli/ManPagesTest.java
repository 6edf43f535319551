package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.ConfigSchema;
import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManPagesTest {
    private static final Duration BOUND = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private List<Path> pages;

    @BeforeEach
    void write() throws IOException {
        StringWriter err = new StringWriter();
        PrintWriter writer = new PrintWriter(err, true);
        assertEquals(
                Exit.OK,
                Main.execute(writer, writer, "man", directory.resolve("man").toString()),
                err::toString);
        try (Stream<Path> files = Files.walk(directory.resolve("man"))) {
            pages = files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    @Test
    void everyCommandThatIsNotHiddenHasAPage() {
        List<String> expected = Stream.concat(
                        Stream.of("tidegate.1"),
                        Main.commandLine().getSubcommands().values().stream()
                                .map(command -> command.getCommandSpec())
                                .filter(command -> !command.usageMessage().hidden()
                                        && !command.name().equals("help"))
                                .map(command -> "tidegate-" + command.name() + ".1"))
                .sorted()
                .toList();

        assertTrue(expected.contains("tidegate-drain.1"));
        assertEquals(
                expected,
                pages.stream()
                        .filter(page -> page.getParent().endsWith("man1"))
                        .map(page -> page.getFileName().toString())
                        .toList());
    }

    @Test
    void groffFindsNothingToWarnOf() {
        Tool groff = Tool.require("groff");
        for (Path page : pages) {
            Tool.Result result = groff.run(BOUND, "-man", "-ww", "-Tutf8", "-P-c", page.toString());
            assertEquals("", result.stderr(), page::toString);
            assertEquals(0, result.exit(), result::toString);
        }
    }

    @Test
    void mandocFindsNothingToWarnOf() {
        Tool mandoc = Tool.require("mandoc");
        for (Path page : pages) {
            Tool.Result result = mandoc.run(BOUND, "-Tlint", "-Wwarning", page.toString());
            assertEquals("", result.stdout() + result.stderr(), page::toString);
        }
    }

    @Test
    void aPageTellsSynopsisOptionsExitCodesAndExamples() {
        String text = Tool.require("groff")
                .run(BOUND, "-man", "-Tascii", "-P-cbou", "-rLL=100n", page("man1/tidegate-drain.1"))
                .stdout();

        for (String expected : List.of(
                "tidegate-drain - gives what is named no new connections",
                "tidegate drain [",
                "--deadline DURATION",
                "--frontend FRONTEND",
                "BACKEND[/ENDPOINT]",
                "EXIT STATUS",
                "69",
                "EXAMPLES",
                "tidegate drain web/a --deadline 10m --spread 2m",
                "tidegate(1)")) {
            assertTrue(text.contains(expected), () -> expected + " is not in\n" + text);
        }
    }

    @Test
    void thePageOfTheConfigurationTellsEveryKey() {
        String text = Tool.require("groff")
                .run(BOUND, "-man", "-Tutf8", "-P-cbou", "-rLL=200n", page("man5/tidegate.yaml.5"))
                .stdout();

        for (ConfigSchema.KeyText key : ConfigSchema.keys()) {
            assertTrue(text.contains(key.path()), () -> key.path() + " is not in\n" + text);
        }
        for (String expected : List.of(
                "tidegate.yaml - configuration",
                "FRONTENDS",
                "lifetime: {max-age: 10m, jitter: 20%}",
                "${NAME:-default}",
                "on reload: live",
                "tidegate-check(1)")) {
            assertTrue(text.contains(expected), () -> expected + " is not in\n" + text);
        }
    }

    private String page(String name) {
        return directory.resolve("man").resolve(name).toString();
    }
}
