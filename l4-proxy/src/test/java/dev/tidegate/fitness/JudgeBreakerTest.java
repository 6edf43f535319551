package dev.tidegate.fitness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.fitness.Standing.BreakerState;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Circuit breakers. */
final class JudgeBreakerTest extends JudgeFixture {
    @Test
    void aBreakerOpensIsTriedAndCloses() {
        EndpointCell[] e = cells(2);
        follow(true, policy(null, BREAKER, null), e);
        Fitness fitness = e[0].fitness();
        assertEquals(BreakerState.CLOSED, judge.standing(e[0]).breaker());
        fail(e[0], 2);
        assertTrue(fitness.fit());

        fail(e[0], 1, Failure.TIMEOUT);
        assertTrue(fitness.unfit(Unfit.BREAKER_OPEN));
        assertEquals(BreakerState.OPEN, judge.standing(e[0]).breaker());
        assertEquals(instant().plusSeconds(10), judge.standing(e[0]).breakerUntil());

        pass(Duration.ofMillis(9_999));
        assertEquals(BreakerState.OPEN, judge.standing(e[0]).breaker());
        pass(Duration.ofMillis(1));
        assertEquals(BreakerState.HALF_OPEN, judge.standing(e[0]).breaker());
        assertNull(judge.standing(e[0]).breakerUntil());
        assertTrue(fitness.fit());
        assertTrue(fitness.tryTrial() > 0);
        assertTrue(fitness.tryTrial() > 0);
        assertFalse(fitness.fit(), "all trials are under way");
        assertEquals(Fitness.TRIAL_REFUSED, fitness.tryTrial());

        watch.onConnected(e[0]);

        assertEquals(BreakerState.CLOSED, judge.standing(e[0]).breaker());
        assertEquals(Fitness.TRIAL_NOT_NEEDED, fitness.tryTrial());
        assertTrue(fitness.fit());
        assertEquals(
                List.of(
                        "breaker-open e0: 3 connects in a row failed, the last: timeout",
                        "breaker-half-open e0: connects that try it, at a time: 2",
                        "breaker-closed e0: a trial connect came through"),
                told);
    }

    @Test
    void aTrialThatFailsOpensTheBreakerAgainForItsWholeTime() {
        EndpointCell[] e = cells(2);
        follow(true, policy(null, BREAKER, null), e);
        fail(e[0], 3);
        pass(Duration.ofSeconds(10));
        assertTrue(e[0].fitness().tryTrial() > 0);

        fail(e[0], 1);

        assertEquals(BreakerState.OPEN, judge.standing(e[0]).breaker());
        assertEquals(instant().plusSeconds(10), judge.standing(e[0]).breakerUntil());
        assertEquals("breaker-open e0: a trial connect failed: refused", told.get(told.size() - 1));
        pass(Duration.ofMillis(9_999));
        assertFalse(e[0].fitness().fit());
        pass(Duration.ofMillis(1));
        assertTrue(e[0].fitness().fit());
        assertTrue(e[0].fitness().tryTrial() > 0);
        assertTrue(e[0].fitness().tryTrial() > 0, "all trials are there again");
    }

    @Test
    void onceItHasClosedABreakerTakesAWholeRowToOpen() {
        EndpointCell[] e = cells(2);
        follow(true, policy(null, BREAKER, null), e);
        fail(e[0], 3);
        pass(Duration.ofSeconds(10));
        watch.onConnected(e[0]);

        fail(e[0], 2);
        assertTrue(e[0].fitness().fit());
        fail(e[0], 1);

        assertFalse(e[0].fitness().fit());
    }

    /** Both were under way at a time; one came through, and control has heard of it when it hears of the other. */
    @Test
    void aTrialThatFailedBeforeTheBreakerClosedDoesNotOpenItAgain() {
        EndpointCell[] e = cells(2);
        List<Runnable> heard = new ArrayList<>();
        Judge slow = new Judge(() -> now, this::instant, null, new Told(), counted, heard::add);
        follow(slow, true, policy(null, BREAKER, null), e);
        fail(e[0], 3);
        hear(heard);
        pass(slow, Duration.ofSeconds(10));

        watch.onConnected(e[0]);
        fail(e[0], 1);
        hear(heard);

        assertEquals(BreakerState.CLOSED, slow.standing(e[0]).breaker());
        assertTrue(e[0].fitness().fit());
        fail(e[0], 3);
        hear(heard);
        assertEquals(BreakerState.OPEN, slow.standing(e[0]).breaker(), "a whole row");
    }

    private static void hear(List<Runnable> tasks) {
        tasks.forEach(Runnable::run);
        tasks.clear();
    }

    @Test
    void onlyConnectsThatFailedOpenABreakerAndOneThatCameThroughEndsTheirRow() {
        EndpointCell[] e = cells(2);
        follow(true, policy(null, BREAKER, null), e);
        fail(e[0], 30, Failure.RESET);
        fail(e[0], 30, Failure.SILENT);
        fail(e[0], 2);
        watch.onConnected(e[0]);
        fail(e[0], 2);

        assertTrue(e[0].fitness().fit());
        assertEquals(List.of(), told);
    }

    /** It was under way when the breaker opened. */
    @Test
    void aConnectThatComesThroughWhileTheBreakerIsOpenDoesNotCloseIt() {
        EndpointCell[] e = cells(2);
        follow(true, policy(null, BREAKER, null), e);
        fail(e[0], 3);

        watch.onConnected(e[0]);
        fail(e[0], 7);

        assertEquals(BreakerState.OPEN, judge.standing(e[0]).breaker());
        assertEquals(1, told.size(), told.toString());
    }

    @Test
    void aBreakerAloneKeepsToHalfOfTheEndpointsAndNeverOpensTheLast() {
        EndpointCell[] e = cells(5);
        follow(true, policy(null, BREAKER, null), e);
        for (EndpointCell one : e) {
            fail(one, 3);
        }
        assertEquals(2, count(e, Unfit.BREAKER_OPEN));

        EndpointCell[] alone = cells(1);
        follow(true, policy(null, BREAKER, null), alone);
        fail(alone[0], 30);
        assertTrue(alone[0].fitness().fit());
    }

    @Test
    void withNeitherOutliersNorABreakerNobodyKeepsWatch() {
        assertSame(EndpointWatch.NONE, judge.watch("back", policy(null, null, SLOW)));
    }
}
