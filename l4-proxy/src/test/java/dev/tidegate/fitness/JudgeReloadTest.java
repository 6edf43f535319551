package dev.tidegate.fitness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.fitness.FitnessPolicy.Panic;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What changes at run time. */
final class JudgeReloadTest extends JudgeFixture {
    @Test
    void whatAReloadTurnsOffLeavesNoMark() {
        EndpointCell[] e = cells(6);
        FitnessPolicy all = new FitnessPolicy(
                true,
                Optional.empty(),
                Optional.of(outlier(5, 80)),
                Optional.of(BREAKER),
                Optional.of(SLOW),
                new Panic(100, true));
        follow(true, all, e[0], e[1], e[2], e[3], e[4]);
        check(e[0], Unfit.DOWN);
        check(e[1], Unfit.NOT_READY);
        fail(e[2], 5, Failure.RESET);
        fail(e[3], 3);
        follow(false, all, e);
        assertEquals(100, e[5].fitness().share());
        assertTrue(cell.panic());

        follow(false, policy(null, null, null), e);

        for (EndpointCell one : e) {
            assertTrue(one.fitness().fit(), one.address());
            assertEquals(Fitness.FULL_SHARE, one.fitness().share(), one.address());
            assertEquals(Standing.GOOD, judge.standing(one), one.address());
        }
        assertFalse(cell.panic());
        assertFalse(judge.tick(), "time brings nothing more");
    }

    @Test
    void aHalfOpenBreakerThatIsTurnedOffLetsAllThrough() {
        EndpointCell[] e = cells(2);
        follow(true, policy(null, BREAKER, null), e);
        fail(e[0], 3);
        pass(Duration.ofSeconds(10));
        assertTrue(e[0].fitness().onTrial());

        follow(false, policy(null, null, null), e);

        assertEquals(Fitness.TRIAL_NOT_NEEDED, e[0].fitness().tryTrial());
    }

    @Test
    void anUnchangedReloadKeepsWhatIsThought() {
        EndpointCell[] e = cells(3);
        follow(true, policy(outlier(3, 50), BREAKER, SLOW), e);
        fail(e[0], 3);
        Standing before = judge.standing(e[0]);

        follow(false, policy(outlier(3, 50), BREAKER, SLOW), e);

        assertTrue(e[0].fitness().unfit(Unfit.EJECTED));
        assertTrue(e[0].fitness().unfit(Unfit.BREAKER_OPEN));
        assertEquals(before, judge.standing(e[0]));
    }

    /** Its cell lives on while connections of it do. */
    @Test
    void anEndpointThatWasRemovedAndIsBackStartsAfresh() {
        EndpointCell[] e = cells(3);
        follow(true, policy(outlier(3, 50), BREAKER, null), e);
        for (int i = 0; i < 3; i++) {
            ejectAndReturn(e[0]);
        }
        pass(Duration.ofSeconds(10));
        fail(e[0], 3);
        assertFalse(e[0].fitness().fit());
        follow(false, policy, e[1], e[2]);
        assertEquals(Standing.GOOD, judge.standing(e[0]));
        fail(e[0], 7); // connections that it still has

        follow(false, policy, e);

        assertTrue(e[0].fitness().fit());
        fail(e[0], 2);
        assertTrue(e[0].fitness().fit());
        assertEquals(BASE_SECONDS, ejectAndReturn(judge, e[0], 1) / SECOND);
    }

    @Test
    void reportsOfABackendThatIsGoneAreNobodysNews() {
        EndpointCell[] e = start(outlier(3, 50), 3);
        judge.follow(List.of(), Map.of(), false);

        fail(e[0], 30);

        assertEquals(List.of(), told);
        assertTrue(e[0].fitness().fit());
        assertFalse(judge.tick());
    }

    @Test
    void whileTimeBringsSomethingThatIsSaid() {
        EndpointCell[] e = cells(3);
        follow(true, policy(outlier(5, 50), BREAKER, null), e);
        assertFalse(judge.tick());
        fail(e[0], 3);
        assertTrue(judge.tick(), "an open breaker");
        pass(Duration.ofSeconds(10));
        assertFalse(judge.tick(), "a half-open breaker waits for a trial");
        fail(e[1], 5, Failure.RESET);

        assertFalse(e[1].fitness().unfit(Unfit.EJECTED), "one of three, and the half-open one is out");
        watch.onConnected(e[0]);
        fail(e[1], 5, Failure.RESET);
        assertTrue(judge.tick(), "an ejection");
    }
}
