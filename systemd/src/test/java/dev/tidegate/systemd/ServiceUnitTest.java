package dev.tidegate.systemd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServiceUnitTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "0::/system.slice/tidegate.service, tidegate.service, false",
        "0::/system.slice/tidegate@edge.service/workers, tidegate@edge.service, false",
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/tidegate.service, tidegate.service, true",
        "1:name=systemd:/system.slice/old.service, old.service, false"
    })
    void theInnermostServiceIsTheUnit(String line, String name, boolean ofUser) {
        assertEquals(Optional.of(new ServiceUnit(name, ofUser)), ServiceUnit.in("12:cpu:/\n" + line + "\n"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0::/",
                "nonsense",
                "0::/user.slice/user-0.slice/session-3.scope",
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice",
                "3:cpu:/system.slice/other.service"
            })
    void outsideOfAServiceThereIsNone(String groups) {
        assertEquals(Optional.empty(), ServiceUnit.in(groups));
    }

    @ParameterizedTest
    @CsvSource({
        "1min 30s, 90000",
        "5min 5s, 305000",
        "500ms, 500",
        "2s 250ms, 2250",
        "1.5s, 1500",
        "1h, 3600000",
        "1d 2h, 93600000",
        "1w, 604800000",
        "90us, 0"
    })
    void timesAreReadAsSystemctlPrintsThem(String text, long millis) {
        assertEquals(millis, TimeSpan.parse(text).orElseThrow().toMillis());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "soon", "5", "5 parsecs", "1min x", "-3s"})
    void whatIsNoTimeIsNone(String text) {
        assertEquals(Optional.empty(), TimeSpan.parse(text));
    }

    @Test
    void aTimeWithoutEndIsLongerThanAnyOther() {
        assertTrue(TimeSpan.parse("infinity\n").orElseThrow().compareTo(Duration.ofDays(100_000)) > 0);
    }

    @Test
    void theToolIsAskedForTheUnit() throws IOException {
        String tool = script("echo \"$@\" > " + directory + "/asked; echo 1min 30s");
        assertEquals(
                Optional.of(Duration.ofSeconds(90)),
                new ServiceUnit("tidegate.service", false).stopTimeout(tool, PATIENCE));
        assertEquals(
                "show --property TimeoutStopUSec --value -- tidegate.service\n",
                Files.readString(directory.resolve("asked")));
        new ServiceUnit("tidegate.service", true).stopTimeout(tool, PATIENCE);
        assertTrue(Files.readString(directory.resolve("asked")).startsWith("--user show"));
    }

    @Test
    void aToolThatIsNotThereOrFailsOrHangsIsNoAnswer() throws IOException {
        ServiceUnit unit = new ServiceUnit("tidegate.service", false);
        assertEquals(Optional.empty(), unit.stopTimeout("/nonexistent/systemctl", PATIENCE));
        assertEquals(Optional.empty(), unit.stopTimeout(script("echo 5s; exit 1"), PATIENCE));
        assertEquals(Optional.empty(), unit.stopTimeout(script("exec sleep 600"), Duration.ofMillis(50)));
    }

    private String script(String line) throws IOException {
        Path file = Files.writeString(directory.resolve("systemctl"), "#!/bin/sh\n" + line + "\n");
        assertTrue(file.toFile().setExecutable(true));
        return file.toString();
    }
}
