package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.health.Condition;
import dev.tidegate.health.Finding;
import dev.tidegate.health.Verdict;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class HealthTest {
    /** Between two checks of a long interval it stood still. */
    @Test
    void forHowLongAnEndpointIsHeldDownIsSaidAsOfNow() {
        long ended = -50; // a ticker may begin below 0
        Verdict verdict = new Verdict(Instant.EPOCH, 1, Finding.pass("connected"), Condition.DOWN, 2, 2, 100);
        Health.Checked checked = new Health.Checked("id", Condition.UP, Condition.DOWN, Instant.EPOCH, verdict, ended);

        assertEquals(100, checked.heldNanos(ended));
        assertEquals(30, checked.heldNanos(ended + 70));
        assertEquals(0, checked.heldNanos(ended + 100));
        assertEquals(0, checked.heldNanos(ended + 1_000));
    }
}
