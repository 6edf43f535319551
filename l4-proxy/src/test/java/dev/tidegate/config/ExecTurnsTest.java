package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.probe.ExecProbe;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ExecTurnsTest {
    private static final int SHARED = ExecTurns.shared(Runtime.getRuntime().availableProcessors());

    private static String backend(String name, int endpoints, String health) {
        return "{name: " + name + ", health: {type: exec, command: /bin/check, " + health + "}, endpoints: ["
                + IntStream.range(0, endpoints)
                        .mapToObj(i -> "{address: \"" + name + ".internal:" + (i + 1) + "\"}")
                        .collect(Collectors.joining(", "))
                + "]}";
    }

    private static List<String> warnings(String... backends) {
        ConfigResult result = ConfigText.read("frontends: [{name: x, listen: \"127.0.0.1:1\", backend: a},"
                + " {name: y, listen: \"127.0.0.1:2\", backend: b}]\nbackends: [" + String.join(", ", backends)
                + "]\n");
        assertTrue(result.config().isPresent(), () -> ConfigText.lines(result).toString());
        return ConfigText.lines(result);
    }

    @Test
    void programsThatWouldNotFitIfEachTookItsTimeOutAreAWarningAtWhoeverHasMost() {
        int many = 2 * (ExecTurns.OWN + SHARED);
        String other = backend("b", 8, "interval: 2s, timeout: 1s");
        assertEquals(List.of(), warnings(backend("a", many, "interval: 2s, timeout: 1s"), other));
        List<String> lines = warnings(backend("a", many + 1, "interval: 2s, timeout: 1s"), other);
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(
                lines.get(0)
                        .endsWith("backends.a.health.command: warning: if every program took its whole time-out, "
                                + (ExecTurns.OWN + SHARED + 1 + 4)
                                + " would run at a time; here each backend may run 4, and all share " + SHARED
                                + " beyond that, so that checks would wait, or not be made; make health.timeout shorter or"
                                + " health.interval longer"),
                lines.get(0));
    }

    @Test
    void theNumbersAreThoseThatChecksGoBy() {
        assertEquals(ExecProbe.OWN, ExecTurns.OWN);
        assertEquals(ExecProbe.sharedHere(), SHARED);
    }
}
