package dev.tidegate.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The units that are shipped, as systemd reads them; none is started. */
class UnitFilesTest {
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final Path UNITS = Path.of("src/main/systemd");

    @Test
    void exposureOfTheServiceIsAtMostOneAndAHalf() {
        Tool.Result result = Tool.require("systemd-analyze")
                .run(
                        BOUND,
                        "security",
                        "--offline=true",
                        "--threshold=15",
                        UNITS.resolve("tidegate.service").toAbsolutePath().toString());
        System.out.println(result.stdout().lines().reduce((first, last) -> last).orElse("no exposure told"));
        assertEquals(0, result.exit(), result::toString);
    }

    @Test
    void systemdUnderstandsEveryLineOfBothUnits(@TempDir Path directory) throws IOException {
        // The program is not installed here; that it is where the unit says is the package's test.
        String service = Files.readString(UNITS.resolve("tidegate.service")).replace("/usr/bin/tidegate", "/bin/true");
        Path copy = Files.writeString(directory.resolve("tidegate.service"), service);
        Path socket = Files.copy(UNITS.resolve("tidegate.socket"), directory.resolve("tidegate.socket"));

        Tool.Result result =
                Tool.require("systemd-analyze").run(BOUND, "verify", "--man=no", copy.toString(), socket.toString());

        assertEquals(
                List.of(),
                result.stderr()
                        .lines()
                        .filter(line -> line.contains("tidegate"))
                        .toList());
    }

    /** A JVM writes the code that it runs: with this it dies at the start. */
    @Test
    void theServiceMayWriteCode() throws IOException {
        assertFalse(Files.readString(UNITS.resolve("tidegate.service")).contains("MemoryDenyWriteExecute=yes"));
    }

    @Test
    void theFrontendThatIsShippedTakesTheSocketThatIsShipped() throws IOException {
        assertTrue(Files.readString(UNITS.resolve("tidegate.socket")).contains("FileDescriptorName=edge"));
        assertTrue(Files.readString(Path.of("src/main/etc/tidegate.yaml")).contains("listen: \"systemd:edge\""));
    }
}
