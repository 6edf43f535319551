package dev.tidegate.bench.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ErlangCTest {
    @ParameterizedTest
    @CsvSource({
        "1, 0.9, 90.00, 0.90",
        "2, 0.9, 42.63, 0.85",
        "4, 0.9, 19.69, 0.79",
        "8, 0.9, 8.77, 0.70",
        "16, 0.9, 3.70, 0.59",
        "32, 0.9, 1.43, 0.46"
    })
    void largerPoolsWaitLessAtTheSameUtilisation(int servers, double utilisation, double millis, double waiting) {
        ErlangC pool = new ErlangC(servers, 0.010);
        assertEquals(millis, pool.queueingSeconds(utilisation) * 1e3, 0.005);
        assertEquals(waiting, pool.waitingShare(utilisation), 0.005);
    }

    @ParameterizedTest
    @CsvSource({"4, 0.615", "16, 0.857"})
    void theHighestUtilisationIsTheLastThatKeepsTheTarget(int servers, double inTenthsOfAPercent) {
        ErlangC pool = new ErlangC(servers, 0.050);
        double highest = pool.utilisationFor(0.010);
        assertEquals(inTenthsOfAPercent, Math.floor(highest * 1000) / 1000);
        assertTrue(pool.queueingSeconds(highest) <= 0.010);
        assertTrue(pool.queueingSeconds(highest + 1e-6) > 0.010);
    }

    @Test
    void aThousandServersDoNotOverflow() {
        double millis = new ErlangC(1000, 0.010).queueingSeconds(0.99) * 1e3;
        assertTrue(millis > 0.1 && millis < 1, "queueing " + millis + " ms");
    }

    @Test
    void theFewestServersKeepTheTargetAndOneLessDoesNot() {
        int servers = ErlangC.serversFor(500, 0.050, 0.010);
        assertTrue(new ErlangC(servers, 0.050).queueingSeconds(25.0 / servers) <= 0.010);
        assertTrue(new ErlangC(servers - 1, 0.050).queueingSeconds(25.0 / (servers - 1)) > 0.010);
    }

    @Test
    void theShareOfJobsThatWaitIsWhereQuantilesBegin() {
        ErlangC pool = new ErlangC(4, 0.010);
        assertEquals(0, pool.queueingSeconds(0.5, 0.5));
        assertTrue(pool.queueingSeconds(0.9, 0.99) > pool.queueingSeconds(0.9, 0.9));
    }

    @Test
    void whatIsOutOfRangeIsNamed() {
        assertEquals(
                "servers 0 is out of range (1..1000000)",
                assertThrows(IllegalArgumentException.class, () -> new ErlangC(0, 1))
                        .getMessage());
        assertThrows(IllegalArgumentException.class, () -> new ErlangC(1, 1).queueingSeconds(1));
        assertThrows(IllegalArgumentException.class, () -> ErlangC.serversFor(-1, 1, 1));
    }

    @ParameterizedTest
    @CsvSource({
        "'--service 50ms --queueing 10ms --servers 4,16', 61.5%",
        "'--service 50ms --queueing 10ms --rate 500', 28",
        "'--service 10ms --utilisation 90% --servers 4', 19.69"
    })
    void theCommandAnswersAllThreeQuestions(String options, String expected) {
        StringWriter out = new StringWriter();
        CommandLine line = Capacity.commandLine().setOut(new PrintWriter(out));
        assertEquals(0, line.execute(options.split(" ")));
        assertTrue(out.toString().contains(expected), out::toString);
    }

    @Test
    void aQuestionThatIsNoneIsAUsageError() {
        StringWriter err = new StringWriter();
        CommandLine line = Capacity.commandLine().setErr(new PrintWriter(err));
        assertEquals(2, line.execute("--service", "50ms"));
        assertTrue(err.toString().contains("--queueing 10ms"), err::toString);
    }
}
