package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ThisMachineTest {
    private final ThisMachine machine = new ThisMachine();

    @Test
    void programsMustBeFilesThatMayBeExecuted(@TempDir Path directory) throws IOException {
        Path plain = Files.writeString(directory.resolve("plain"), "x");
        assertEquals(Optional.empty(), machine.troubleWithProgram("/bin/true"));
        assertEquals(
                Optional.of("program /no/such does not exist, or may not be seen"),
                machine.troubleWithProgram("/no/such"));
        assertEquals(
                Optional.of("program " + plain + " may not be executed"), machine.troubleWithProgram(plain.toString()));
        assertEquals(
                Optional.of("program " + directory + " is no file"), machine.troubleWithProgram(directory.toString()));
    }

    @Test
    void certificatesMustBeThere(@TempDir Path directory) throws IOException {
        Path plain = Files.writeString(directory.resolve("plain"), "x");
        assertEquals(Optional.of("CA file /no/such.pem does not exist"), machine.troubleWithCa("/no/such.pem"));
        assertTrue(machine.troubleWithCa(plain.toString()).isPresent());
    }

    @Test
    void addressesAreThoseThatASocketMayHave() {
        assertTrue(machine.hasAddress("127.0.0.1"));
        assertTrue(machine.hasAddress("127.0.0.77"));
        assertTrue(machine.hasAddress("::1"));
        assertFalse(machine.hasAddress("203.0.113.7"));
    }

    @Test
    void checkTellsInOneLineEachWhatIsMissing(@TempDir Path directory) throws IOException {
        Path config = Files.writeString(directory.resolve("t.yaml"), """
                frontends: [{name: f, listen: "127.0.0.1:1", backend: a}, {name: g, listen: "127.0.0.1:2", backend: b}]
                backends:
                  - name: a
                    health: {type: tls, ca: /no/such.pem, source: 203.0.113.7}
                    endpoints: [{address: "10.0.0.1:80"}]
                  - name: b
                    health: {type: exec, command: [/no/such/check]}
                    endpoints: [{address: "10.0.0.1:80"}]
                """);
        ConfigResult result = ConfigReader.read(config, name -> null, machine);
        assertTrue(result.config().isPresent());
        String end = ", so that no check can be carried out; mend it, or ask on the machine that tidegate runs on";
        assertEquals(
                List.of(
                        "backends.a.health.ca: warning: CA file /no/such.pem does not exist" + end,
                        "backends.a.health.source: warning: 203.0.113.7 is no address of this machine" + end,
                        "backends.b.health.command[0]: warning: program /no/such/check does not exist, or may"
                                + " not be seen" + end),
                result.problems().stream().map(ThisMachineTest::lessItsPlace).toList());
    }

    private static String lessItsPlace(Problem problem) {
        return problem.toString().replaceFirst(".*:[0-9]+:[0-9]+: ", "");
    }
}
