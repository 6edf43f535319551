package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        return Main.execute(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "check", "demo", "schema", "version", "help"})
    void everyCommandTellsItsUsageWhenAskedForHelp(String command) {
        assertEquals(Exit.OK, execute(command, "--help"), err::toString);

        assertTrue(out.toString().contains("Usage: tidegate " + command), out::toString);
        assertEquals("", err.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"-h", "--help", "help"})
    void tidegateTellsItsCommandsWhenAskedForHelp(String word) {
        assertEquals(Exit.OK, execute(word), err::toString);

        assertTrue(out.toString().contains("Runs the balancer until it is stopped by a signal."), out::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-V", "--version", "version"})
    void theVersionIsToldHoweverItIsAskedFor(String word) {
        assertEquals(Exit.OK, execute(word), err::toString);

        assertEquals(VersionCommand.line(), out.toString().strip());
    }

    /** What was given before the command was not heard. */
    @ParameterizedTest
    @ValueSource(strings = {"version --output json", "--output json version"})
    void theVersionIsAnObjectWhereverJsonWasAskedFor(String line) throws IOException {
        assertEquals(Exit.OK, execute(line.split(" ")), err::toString);

        JsonNode shown = new ObjectMapper().readTree(out.toString());
        assertEquals(VersionCommand.version(), shown.at("/version").asText());
        assertEquals(Runtime.version().toString(), shown.at("/java").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = {"check --output json --config no-such.yaml", "--output json check --config no-such.yaml"})
    void aCheckIsAnObjectWhereverJsonWasAskedFor(String line) throws IOException {
        assertEquals(Exit.FAILED, execute(line.split(" ")), err::toString);

        JsonNode shown = new ObjectMapper().readTree(out.toString());
        assertFalse(shown.at("/valid").asBoolean(true));
        assertEquals("error", shown.at("/problems/0/severity").asText());
        assertEquals("", err.toString());
    }

    @Test
    void aWordThatIsNoCommandIsToldWithTheNearestOne() {
        assertEquals(Exit.USAGE, execute("chek"));

        assertEquals("tidegate: \"chek\" is no command; did you mean check?\nTry: tidegate --help\n", err.toString());
    }

    @Test
    void aWordThatIsLikeNoCommandIsToldWithAllOfThem() {
        assertEquals(Exit.USAGE, execute("xyzzy"));

        assertTrue(
                err.toString().startsWith("tidegate: \"xyzzy\" is no command; the commands are run, check, "),
                err::toString);
    }

    @Test
    void withoutACommandAllOfThemAreShown() {
        assertEquals(Exit.USAGE, execute());

        assertTrue(err.toString().startsWith("tidegate: a command is missing\nUsage: tidegate "), err::toString);
    }

    @Test
    void aWrongCommandLineIsToldInOneLineWithWhereToReadOn() {
        assertAll(
                () -> assertWrong("\"a.yaml\" is one argument too many; tidegate check takes options only", "a.yaml"),
                () -> assertWrong(
                        "Invalid value for option '--output': \"xml\" is unknown; write table or json",
                        "--output",
                        "xml"),
                () -> assertWrong("Missing required parameter for option '--config' (FILE)", "--config"));
    }

    private void assertWrong(String line, String... arguments) {
        err.getBuffer().setLength(0);
        String[] all = new String[arguments.length + 1];
        all[0] = "check";
        System.arraycopy(arguments, 0, all, 1, arguments.length);

        assertEquals(Exit.USAGE, execute(all));

        assertEquals("tidegate: " + line + "\nTry: tidegate check --help\n", err.toString());
    }
}
