package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class CompareTest {
    private final StringWriter said = new StringWriter();

    @Test
    void theHelpNamesEveryRowThatThereIs() {
        assertEquals(0, execute("--help"));

        String help = said.toString().replaceAll("\\s+", " ");
        for (String name : SubjectStarter.names()) {
            assertTrue(help.contains(name), name + " in: " + help);
        }
    }

    @Test
    void whatIsNotKnownIsRefusedBeforeAnythingStarts() {
        assertRefused("--only: \"bare-epoll-multishot\" is not known", "--only", "bare-epoll-multishot");
        assertRefused("--grow: \"weights\" is not known", "--grow", "connections,weights");
        assertRefused("scenario \"tiny\" is not known", "--scenarios", "small,tiny");
    }

    private void assertRefused(String what, String... arguments) {
        assertEquals(1, execute(arguments));
        assertTrue(said.toString().contains(what), said::toString);
    }

    private int execute(String... arguments) {
        PrintWriter out = new PrintWriter(said);
        return new CommandLine(new Compare(Path.of("nowhere"), ""))
                .setOut(out)
                .setErr(out)
                .setExecutionExceptionHandler((failure, line, parsed) -> {
                    line.getErr().println(failure.getMessage());
                    return 1;
                })
                .execute(arguments);
    }
}
