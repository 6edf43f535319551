package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TrialTest {
    @Test
    void theNumberBehindAScenarioIsItsConnectionsOrItsShareOfTheKnee() {
        assertEquals(64, Trial.named("small").connections());
        assertEquals(8, Trial.named("bulk@8").connections());
        assertEquals(70, Trial.named("latency@70").share());
        assertEquals(Trial.named("latency@50"), Trial.named("latency"));
        assertTrue(Trial.named("bulk@8").title().contains("8 streams"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bulk@", "bulk@0", "bulk@x", "bulk@100000", "latency@96", "latency@0"})
    void aNumberThatIsNoneIsRefusedWithWhatWouldBeRight(String word) {
        String said = assertThrows(IllegalArgumentException.class, () -> Trial.named(word))
                .getMessage();

        assertTrue(said.startsWith("\"" + word + "\": behind @ stands a number of "), said);
        assertTrue(said.contains("such as " + word.substring(0, word.indexOf('@')) + "@64"), said);
    }

    @Test
    void aSummaryOfStraceIsReadWithItsErrorsAndWithout() {
        List<String> summary = List.of(
                "% time     seconds  usecs/call     calls    errors syscall",
                "------ ----------- ----------- --------- --------- ----------------",
                " 60.00    0.000600           6       100           read",
                " 40.00    0.000400           2       200        50 recvfrom",
                "------ ----------- ----------- --------- --------- ----------------",
                "100.00    0.001000           3       300        50 total");

        CallMeter.Calls calls = new CallMeter.Calls("a", 50, CallMeter.parse(summary));

        assertEquals(List.of("recvfrom", "read"), List.copyOf(calls.calls().keySet()));
        assertEquals(6, calls.perConnection());
        assertEquals(4, calls.perConnection("recvfrom"));
    }

    @Test
    void aTargetIsMetByTheBetterOfBothTransportsAndSaysSoOfEach() {
        Target target = new Target("connect", "CPU of a connection", 1.45, 1.25);

        assertEquals(
                List.of("CPU of a connection", "1.30", "1.45 met", "1.25 **missed**", "1.50", "1.44 **missed**"),
                target.row(1.30, 1.50));
        assertEquals("1.25 met", target.row(Double.NaN, 1.2).get(3));
        assertEquals("1.45 not measured", target.row(Double.NaN, Double.NaN).get(2));
    }
}
