package dev.tidegate.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetirementTest {
    private final Retirement retirement = new Retirement();
    private final RetireOrder drain = RetireOrder.everywhere(CloseReason.DRAIN);
    private final RetireOrder shutdown = RetireOrder.everywhere(CloseReason.SHUTDOWN);

    @Test
    void theFirstThatHasBegunIsTheReasonAndTheEarliestHardLimitHolds() {
        retirement.add(drain, 500, 1_000, 100);
        retirement.add(shutdown, 200, 2_000, 100);

        assertNull(retirement.reason(199));
        assertFalse(retirement.begun(199));
        assertEquals(CloseReason.SHUTDOWN, retirement.reason(200));
        assertEquals(CloseReason.DRAIN, retirement.reason(500));
        assertEquals(200, retirement.startNanos());
        assertEquals(1_000, retirement.hardNanos());
        assertEquals(900, retirement.windowNanos());
    }

    @Test
    void anOrderThatIsTakenBackLeavesTheOthers() {
        retirement.add(drain, 0, 1_000, 0);
        retirement.add(shutdown, 0, 2_000, 0);

        assertTrue(retirement.remove(drain));
        assertFalse(retirement.remove(drain));
        assertEquals(CloseReason.SHUTDOWN, retirement.reason(0));
        assertEquals(2_000, retirement.hardNanos());
        assertEquals(0, drain.remaining());
        assertEquals(0, drain.joined());
        assertTrue(retirement.has(shutdown));
        assertTrue(retirement.remove(shutdown));
        assertTrue(retirement.isEmpty());
    }

    @Test
    void anOrderThatIsGivenAgainHoldsByItsNewTimesAndCountsOnce() {
        retirement.add(drain, 0, 1_000, 0);
        retirement.add(drain, 0, 500, 100);

        assertEquals(500, retirement.hardNanos());
        assertEquals(400, retirement.windowNanos());
        assertEquals(1, drain.remaining());
    }

    /** Its client may have been told meanwhile: then it ends for this. */
    @Test
    void anOrderThatHasBegunAndIsGivenAgainGoesOn() {
        retirement.add(drain, 100, 1_000, 100);
        retirement.add(drain, 300, 500, 200);

        assertEquals(CloseReason.DRAIN, retirement.reason(200));
        assertEquals(100, retirement.startNanos());
        assertEquals(500, retirement.hardNanos());
    }

    @Test
    void withoutALimitItIsNotLimitedWhateverTheTime() {
        for (long now : List.of(0L, -5_000_000_000L, Long.MAX_VALUE - 10, 7_000_000_000L)) {
            Retirement unlimited = new Retirement();
            unlimited.add(drain, now + Retirement.NEVER, now + Retirement.NEVER, now);
            assertFalse(unlimited.limited());
            assertFalse(unlimited.begun(now));
            unlimited.add(shutdown, now, now + 1_000, now);
            assertTrue(unlimited.limited());
            assertEquals(CloseReason.SHUTDOWN, unlimited.reason(now));
            assertEquals(1_000, unlimited.windowNanos());
        }
    }

    @Test
    void ordersOfAnotherEndpointAreLeftBehind() {
        EndpointCell here = new EndpointCell("back", "127.0.0.1:1", 0, List.of());
        EndpointCell there = new EndpointCell("back", "127.0.0.1:2", 1, List.of());
        RetireOrder ofThere = new RetireOrder(CloseReason.ENDPOINT_REMOVED, there::equals);
        retirement.add(ofThere, 0, 1_000, 0);
        retirement.add(shutdown, 0, 1_000, 0);

        retirement.arriveAt(here);

        assertFalse(retirement.has(ofThere));
        assertEquals(0, ofThere.remaining());
        assertTrue(retirement.has(shutdown));
    }

    @Test
    void anEndIsCountedByTheOrderThatBroughtItAndOnlyOnce() {
        RetireOrder another = RetireOrder.everywhere(CloseReason.DRAIN);
        retirement.add(shutdown, 0, 1_000, 0);
        retirement.add(drain, 0, 1_000, 0);
        retirement.add(another, 0, 1_000, 0);

        retirement.ended(CloseReason.DRAIN, RetireHow.CUT);

        assertEquals(List.of(0, 0, 0), List.of(shutdown.cut(), shutdown.retired(), shutdown.remaining()));
        assertEquals(List.of(1, 0, 0), List.of(drain.cut(), drain.retired(), drain.remaining()));
        assertEquals(List.of(0, 0, 0), List.of(another.cut(), another.retired(), another.remaining()));
        assertTrue(retirement.isEmpty());
    }
}
