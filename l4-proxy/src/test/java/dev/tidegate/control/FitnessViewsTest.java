package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.health.Condition;
import dev.tidegate.health.Finding;
import dev.tidegate.health.Verdict;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class FitnessViewsTest {
    private static Health.Checked checked(Condition condition, Finding last) {
        Verdict verdict = last == null ? null : new Verdict(Instant.EPOCH, 1, last, condition, 0, 1, 0);
        return new Health.Checked("back/e #1", Condition.UNKNOWN, condition, Instant.EPOCH, verdict, 0);
    }

    @Test
    void anEndpointWhoseChecksCannotBeCarriedOutIsNotTakenForANewOne() {
        assertEquals("its first check is not over", FitnessViews.unchecked(checked(Condition.UNKNOWN, null)));
        assertEquals(
                "not checked: CA file /nonexistent.pem does not exist",
                FitnessViews.unchecked(
                        checked(Condition.UNKNOWN, Finding.voided("CA file /nonexistent.pem does not exist"))));
    }

    @Test
    void whatKeepsChecksFromBeingMadeIsNotTakenForWhatTheyFound() {
        assertEquals(", its first check is not over", FitnessViews.why(checked(Condition.DOWN, null), false));
        assertEquals(": HTTP 500", FitnessViews.why(checked(Condition.DOWN, Finding.fail("HTTP 500")), false));
        assertEquals(
                ", held down: HTTP 200", FitnessViews.why(checked(Condition.DOWN, Finding.pass("HTTP 200")), true));
        assertEquals(
                "; not checked since: too many open files",
                FitnessViews.why(checked(Condition.DOWN, Finding.voided("too many open files")), false));
    }
}
