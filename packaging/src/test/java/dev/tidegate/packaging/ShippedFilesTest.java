package dev.tidegate.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.ConfigReader;
import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What goes into the packages beside the program, as far as reading it tells. */
class ShippedFilesTest {
    private static final Path MAIN = Path.of("src/main");
    private static final Set<String> INSTRUCTIONS = Set.of(
            "FROM",
            "ARG",
            "ENV",
            "RUN",
            "ADD",
            "COPY",
            "USER",
            "VOLUME",
            "EXPOSE",
            "STOPSIGNAL",
            "HEALTHCHECK",
            "WORKDIR",
            "LABEL",
            "ENTRYPOINT",
            "CMD");

    @Test
    void theConfigurationHasNoProblemAndNothingToWarnOf() {
        var result = ConfigReader.read(MAIN.resolve("etc/tidegate.yaml"), name -> null);

        assertEquals(List.of(), result.problems());
        assertTrue(result.config().isPresent());
    }

    @Test
    void theServiceWaitsLongerForItsEndThanTheConfigurationTakes() throws IOException {
        var shutdown = ConfigReader.read(MAIN.resolve("etc/tidegate.yaml"), name -> null)
                .config()
                .orElseThrow()
                .process()
                .shutdown();
        String unit = Files.readString(MAIN.resolve("systemd/tidegate.service"));
        long seconds = Long.parseLong(unit.replaceAll("(?s).*\nTimeoutStopSec=(\\d+)s\n.*", "$1"));

        Duration needed = shutdown.lameDuck().plus(shutdown.deadline()).plusMillis(2500);

        assertTrue(Duration.ofSeconds(seconds).compareTo(needed) > 0, () -> seconds + " s for " + needed);
    }

    static Stream<Path> scripts() throws IOException {
        try (Stream<Path> control = Files.list(MAIN.resolve("deb/control"));
                Stream<Path> scenarios = Files.list(Path.of("src/test/nspawn"))) {
            return Stream.of(
                    Stream.of(Path.of("stage"), Path.of("finish")),
                    control.filter(file -> file.getFileName().toString().matches("p(re|ost)(inst|rm)")),
                    scenarios.filter(file -> !file.toString().endsWith(".py")))
                    .flatMap(files -> files)
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void itsShellUnderstandsEveryScript(Path script) throws IOException {
        boolean posix = Files.readString(script).startsWith("#!/bin/sh\n");

        Tool.Result result = Tool.require(posix ? "sh" : "bash")
                .run(Duration.ofSeconds(10), "-n", script.toAbsolutePath().toString());

        assertEquals("", result.stderr());
        assertEquals(0, result.exit());
    }

    /** No container engine is asked: a line that is none of a Containerfile's would be found by the one who builds the image. */
    @Test
    void theContainerfileHasOnlyInstructionsAndAddsTheArchive() throws IOException {
        List<String> instructions = new ArrayList<>();
        boolean goesOn = false;
        for (String line : Files.readAllLines(Path.of("container/Containerfile"))) {
            if (!line.startsWith("#") && !line.isBlank()) {
                if (!goesOn) {
                    instructions.add(line);
                }
                goesOn = line.endsWith("\\");
            }
        }

        assertEquals(
                List.of(),
                instructions.stream()
                        .filter(line -> !INSTRUCTIONS.contains(line.split(" ", 2)[0]))
                        .toList());
        assertTrue(instructions.get(0).startsWith("FROM "), instructions::toString);
        assertTrue(instructions.contains("ADD tidegate-${VERSION}.tar.gz /opt/"), instructions::toString);
        assertTrue(
                instructions.stream()
                        .filter(line -> line.matches("(ENTRYPOINT|CMD) .*"))
                        .allMatch(line -> line.matches("[A-Z]+ \\[(\"[^\"]*\"(, )?)+]")),
                instructions::toString);
    }
}
