package dev.tidegate.fitness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.fitness.FitnessPolicy.Outlier;
import dev.tidegate.fitness.Standing.BreakerState;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness.Unfit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Ejection by failures in a row, and by their rate. */
final class JudgeEjectionTest extends JudgeFixture {
    @Test
    void soManyFailuresInARowEjectAndNotOneLess() {
        EndpointCell[] e = start(outlier(5, 50), 3);
        fail(e[0], 4);
        assertTrue(e[0].fitness().fit());

        fail(e[0], 1);

        assertTrue(e[0].fitness().unfit(Unfit.EJECTED));
        assertEquals(1, e[0].fitness().ejections());
        assertEquals(
                List.of("endpoint-ejected e0: 5 failures in a row, the last: refused; for 30000 ms, time 1"), told);
        Standing standing = judge.standing(e[0]);
        assertEquals(instant().plusSeconds(30), standing.ejectedUntil());
        assertEquals("5 failures in a row, the last: refused", standing.ejectedWhy());
    }

    @Test
    void anAnswerEndsTheRow() {
        EndpointCell[] e = start(outlier(5, 50), 3);
        fail(e[0], 4);

        watch.onAnswered(e[0]);
        fail(e[0], 4);

        assertTrue(e[0].fitness().fit());
        assertEquals(List.of(), told);
    }

    /** An endpoint that accepts and resets would otherwise look well by its connects. */
    @Test
    void aConnectThatComesThroughDoesNotEndTheRow() {
        EndpointCell[] e = start(outlier(3, 50), 3);
        for (int i = 0; i < 3; i++) {
            watch.onConnected(e[0]);
            watch.onFailure(e[0], Failure.RESET);
        }

        assertTrue(e[0].fitness().unfit(Unfit.EJECTED));
    }

    @ParameterizedTest
    @EnumSource
    void everyKindOfFailureEjects(Failure kind) {
        EndpointCell[] e = start(outlier(2, 50), 2);

        watch.onFailure(e[0], kind);
        watch.onFailure(e[0], kind);

        assertEquals(
                List.of("endpoint-ejected e0: 2 failures in a row, the last: " + kind.word()
                        + "; for 30000 ms, time 1"),
                told);
    }

    @Test
    void eachEjectionLastsLongerUpToTheLongest() {
        EndpointCell[] e = start(new Outlier(3, 0, 20, 10 * SECOND, 0, 30 * SECOND, 100 * SECOND, 50), 3);
        List<Long> seconds = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            seconds.add(ejectAndReturn(e[0]) / SECOND);
        }

        assertEquals(List.of(30L, 60L, 90L, 100L, 100L), seconds);
    }

    @Test
    void theLongestEjectionHoldsHoweverOftenItHappens() {
        EndpointCell[] e = start(new Outlier(1, 0, 20, 10 * SECOND, 0, 3_600 * SECOND, 86_400 * SECOND, 50), 3);
        long last = 0;
        for (int i = 0; i < 400; i++) {
            last = ejectAndReturn(e[0], 1);
        }

        assertEquals(86_400 * SECOND, last);
    }

    @ParameterizedTest
    @CsvSource({"0, 120", "29, 120", "30, 90", "59, 90", "60, 60", "90, 30", "100000, 30"})
    void forEachEjectionWellSpentOneIsForgiven(long wellSeconds, long nextSeconds) {
        EndpointCell[] e = start(outlier(3, 50), 3);
        for (int i = 0; i < 3; i++) {
            ejectAndReturn(e[0]);
        }

        pass(Duration.ofSeconds(wellSeconds));

        assertEquals(nextSeconds, ejectAndReturn(e[0]) / SECOND);
    }

    @Test
    void jitterPutsAReturnOffByUpToATenth() {
        Judge seeded = judge(RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(5));
        EndpointCell[] e = cells(3);
        follow(seeded, true, policy(outlier(3, 50), null, null), e);
        long least = Long.MAX_VALUE;
        long most = 0;
        for (int i = 0; i < 500; i++) {
            long lasts = ejectAndReturn(seeded, e[0], 3);
            pass(seeded, Duration.ofSeconds(30));
            least = Math.min(least, lasts);
            most = Math.max(most, lasts);
        }

        assertTrue(least >= 30 * SECOND && least < 30_100 * MILLI, "the shortest " + least);
        assertTrue(most <= 33 * SECOND && most > 32_900 * MILLI, "the longest " + most);
    }

    @Test
    void aReturnPutOffComesAtThatMomentAndNotBefore() {
        chance = 0.5;
        EndpointCell[] e = start(outlier(3, 50), 3);

        assertEquals(31_500 * MILLI, ejectAndReturn(e[0]));
    }

    /** envoyproxy/envoy#27066: with three endpoints 34 % allowed one, and 67 % none more, or all, by version. */
    @ParameterizedTest
    @CsvSource({
        "3, 100, 2", "3, 67, 2", "3, 66, 1", "3, 34, 1", "3, 10, 1", "3, 0, 1",
        "10, 50, 5", "10, 59, 5", "10, 100, 9", "2, 50, 1", "2, 100, 1", "1, 100, 0"
    })
    void atMostTheLargerOfOneAndTheShareRoundedDownIsEjectedAndNeverTheLast(int endpoints, int percent, int ejected) {
        EndpointCell[] e = start(outlier(3, percent), endpoints);
        for (EndpointCell one : e) {
            fail(one, 3);
        }

        assertEquals(ejected, count(e, Unfit.EJECTED));
    }

    @Test
    void whoWasSparedByTheCapIsEjectedByItsNextRowOnceThereIsRoom() {
        EndpointCell[] e = start(outlier(3, 34), 3);
        fail(e[0], 3);
        fail(e[1], 3);
        assertFalse(e[1].fitness().unfit(Unfit.EJECTED));
        pass(Duration.ofSeconds(BASE_SECONDS));

        fail(e[1], 2);
        assertFalse(e[1].fitness().unfit(Unfit.EJECTED));
        fail(e[1], 1);

        assertTrue(e[1].fitness().unfit(Unfit.EJECTED));
    }

    /** It was dead and has come back: that it is worse than its siblings was said of the dead. */
    @Test
    void whoChecksFoundDownAndFindUpAgainIsNotEjectedAnyLonger() {
        EndpointCell[] e = cells(3);
        follow(true, checked(null, outlier(3, 50), NEVER), e);
        fail(e[0], 3);
        check(e[0], Unfit.DOWN);
        pass(Duration.ofSeconds(5));
        told.clear();

        judge.onChecked(e[0], null, () -> told.add("up"));

        assertTrue(e[0].fitness().fit());
        assertNull(judge.standing(e[0]).ejectedUntil());
        assertEquals(List.of("up", "endpoint-returned e0: checks found it down, and up again since"), told);
        // What had failed before does not count any more, but that it was ejected is remembered.
        fail(e[0], 2);
        assertTrue(e[0].fitness().fit());
        fail(e[0], 1);
        assertEquals(instant().plusSeconds(60), judge.standing(e[0]).ejectedUntil());
    }

    @Test
    void aCheckThatPassesIsNoReasonToReturnForOneThatWasNotDown() {
        EndpointCell[] e = cells(3);
        follow(true, checked(null, outlier(3, 50), NEVER), e);
        fail(e[0], 3);
        check(e[0], Unfit.NOT_READY);

        check(e[0], null);

        assertTrue(e[0].fitness().unfit(Unfit.EJECTED));
    }

    @Test
    void whoReturnsByItsChecksGrowsFromTheBeginning() {
        EndpointCell[] e = cells(3);
        follow(
                true,
                new FitnessPolicy(
                        true,
                        Optional.empty(),
                        Optional.of(outlier(3, 50)),
                        Optional.empty(),
                        Optional.of(SLOW),
                        NEVER),
                e);
        fail(e[0], 3);
        check(e[0], Unfit.DOWN);

        check(e[0], null);

        assertTrue(e[0].fitness().fit());
        assertEquals(100, e[0].fitness().share());
    }

    @Test
    void endpointsThatTakeNoConnectionsAreNoneOfThoseTheShareIsOf() {
        EndpointCell[] e = start(outlier(3, 50), 4);
        e[2].close(Closed.DRAINING, true);
        e[3].close(Closed.DISABLED, true);

        fail(e[0], 3);
        fail(e[1], 3);

        assertTrue(e[0].fitness().unfit(Unfit.EJECTED));
        assertTrue(e[1].fitness().fit(), "the last one that takes connections");
    }

    @Test
    void theLastThatChecksFindUpIsNotEjected() {
        EndpointCell[] e = cells(3);
        follow(true, checked(null, outlier(3, 100), NEVER), e);
        check(e[1], Unfit.DOWN);
        check(e[2], Unfit.NOT_READY);

        fail(e[0], 30);

        assertTrue(e[0].fitness().fit());
    }

    /** envoyproxy/envoy#40697, #26758: from the second time on one failure was enough, or none was. */
    @Test
    void eachTimeItTakesExactlySoManyFailures() {
        EndpointCell[] e = start(outlier(3, 50), 3);
        for (int cycle = 0; cycle < 5; cycle++) {
            fail(e[0], 2);
            assertTrue(e[0].fitness().fit(), "after two, in cycle " + cycle);
            fail(e[0], 1);
            assertFalse(e[0].fitness().fit(), "after three, in cycle " + cycle);
            fail(e[0], 4); // connections that were open before
            pass(Duration.ofMinutes(5));
            assertTrue(e[0].fitness().fit(), "back, in cycle " + cycle);
        }

        assertEquals(5, e[0].fitness().ejections());
    }

    @Test
    void ejectedOnesAndOpenBreakersShareTheCap() {
        EndpointCell[] e = cells(4);
        follow(true, policy(outlier(5, 50), BREAKER, null), e);
        watch.onFailure(e[0], Failure.RESET);
        fail(e[0], 4, Failure.RESET);
        fail(e[1], 3);
        assertTrue(e[0].fitness().unfit(Unfit.EJECTED));
        assertTrue(e[1].fitness().unfit(Unfit.BREAKER_OPEN));

        fail(e[2], 30, Failure.RESET);
        fail(e[3], 30);

        assertTrue(e[2].fitness().fit());
        assertTrue(e[3].fitness().fit());
    }

    @Test
    void anEndpointThatIsEjectedAndHasItsBreakerOpenCountsOnce() {
        EndpointCell[] e = cells(4);
        follow(true, policy(outlier(3, 50), BREAKER, null), e);
        fail(e[0], 3);
        assertTrue(e[0].fitness().unfit(Unfit.EJECTED));
        assertTrue(e[0].fitness().unfit(Unfit.BREAKER_OPEN));

        fail(e[1], 3, Failure.RESET);

        assertTrue(e[1].fitness().unfit(Unfit.EJECTED));
    }

    @Test
    void ofOneThatIsEjectedWhileItsBreakerIsOpenBothTimesAreShown() {
        EndpointCell[] e = cells(4);
        follow(true, policy(outlier(5, 50), BREAKER, null), e);
        fail(e[0], 5);

        Standing standing = judge.standing(e[0]);

        assertEquals(instant().plusSeconds(30), standing.ejectedUntil());
        assertEquals(BreakerState.OPEN, standing.breaker());
        assertEquals(instant().plusSeconds(10), standing.breakerUntil());
    }

    /** Ejected while it was drained, or drained while it was ejected: it counted for nothing, and was undrained. */
    @Test
    void theCapHoldsWhenOneThatIsEjectedTakesConnectionsAgain() {
        EndpointCell[] e = start(outlier(3, 34), 3);
        fail(e[0], 3);
        e[0].close(Closed.DRAINING, true);
        follow(false, policy, e);
        pass(Duration.ofSeconds(1));
        fail(e[1], 3);
        assertEquals(2, count(e, Unfit.EJECTED));
        told.clear();

        e[0].close(Closed.DRAINING, false);
        follow(false, policy, e);

        assertTrue(e[0].fitness().fit(), "its time would have been over first");
        assertTrue(e[1].fitness().unfit(Unfit.EJECTED));
        assertEquals(List.of("endpoint-returned e0: let in early: no more than 1 of 3 may be out"), told);
        assertNull(judge.standing(e[0]).ejectedUntil());
        fail(e[0], 30);
        assertTrue(e[0].fitness().fit(), "the cap is reached");
    }

    @ParameterizedTest
    @CsvSource({"6, 50, 2, 2", "6, 50, 3, 1", "6, 50, 4, 1", "6, 50, 5, 0", "4, 100, 1, 2", "4, 100, 3, 0"})
    void theCapHoldsWhenFewerTakeConnections(int endpoints, int percent, int closed, int ejected) {
        EndpointCell[] e = start(outlier(3, percent), endpoints);
        for (int i = 0; i < endpoints; i++) {
            fail(e[i], 3);
        }
        for (int i = 0; i < closed; i++) {
            e[endpoints - 1 - i].close(Closed.DISABLED, true);
        }

        follow(false, policy, e);

        assertEquals(
                ejected,
                Arrays.stream(e)
                        .filter(one -> one.open() && one.fitness().unfit(Unfit.EJECTED))
                        .count());
    }

    @Test
    void theCapHoldsWhenAReloadLowersIt() {
        EndpointCell[] e = cells(4);
        follow(true, policy(outlier(5, 75), BREAKER, SLOW), e);
        for (int i = 0; i < 5; i++) {
            watch.onFailure(e[0], Failure.RESET);
        }
        pass(Duration.ofSeconds(25));
        fail(e[1], 3);
        fail(e[2], 5, Failure.RESET);
        assertEquals(2, count(e, Unfit.EJECTED));
        told.clear();

        follow(false, policy(outlier(5, 25), BREAKER, SLOW), e);

        assertEquals(
                List.of(
                        "endpoint-returned e0: let in early: no more than 1 of 4 may be out",
                        "breaker-closed e1: let in early: no more than 1 of 4 may be out"),
                told);
        assertEquals(100, e[0].fitness().share(), "with a slow start");
        assertEquals(100, e[1].fitness().share());
        assertTrue(e[2].fitness().unfit(Unfit.EJECTED));
    }

    @ParameterizedTest
    @CsvSource({"10, 10, true", "0, 20, true", "11, 9, false", "9, 10, false", "0, 19, false", "101, 99, false"})
    void theRateOfOneIntervalEjectsWhereThereWereEnoughConnections(long answered, long failures, boolean ejects) {
        EndpointCell[] e = start(new Outlier(1_000, 50, 20, 10 * SECOND, 0, 30 * SECOND, 300 * SECOND, 50), 3);
        counted.add(e[0], answered, failures);
        pass(Duration.ofMillis(9_999));
        assertTrue(e[0].fitness().fit(), "before the interval is over");

        pass(Duration.ofMillis(1));

        assertEquals(ejects, e[0].fitness().unfit(Unfit.EJECTED));
        if (ejects) {
            assertEquals(
                    failures + " of " + (answered + failures) + " connections failed",
                    judge.standing(e[0]).ejectedWhy());
        }
    }

    @Test
    void whatWasCountedInOneIntervalDoesNotCountInTheNext() {
        EndpointCell[] e = start(new Outlier(1_000, 50, 20, 10 * SECOND, 0, 30 * SECOND, 300 * SECOND, 50), 3);
        counted.add(e[0], 1, 18);
        pass(Duration.ofSeconds(10));
        counted.add(e[0], 1, 18);
        pass(Duration.ofSeconds(10));

        assertTrue(e[0].fitness().fit());
    }

    @Test
    void whatWasCountedBeforeAnEndpointCameDoesNotCountAgainstIt() {
        EndpointCell[] e = cells(3);
        counted.add(e[0], 0, 1_000);
        follow(true, policy(new Outlier(1_000, 50, 20, SECOND, 0, 30 * SECOND, 300 * SECOND, 50), null, null), e);

        pass(Duration.ofSeconds(1));

        assertTrue(e[0].fitness().fit());
    }
}
