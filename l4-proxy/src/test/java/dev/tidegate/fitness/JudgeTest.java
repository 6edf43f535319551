package dev.tidegate.fitness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.balance.Pickers;
import dev.tidegate.fitness.FitnessPolicy.Breaker;
import dev.tidegate.fitness.FitnessPolicy.Outlier;
import dev.tidegate.fitness.FitnessPolicy.Panic;
import dev.tidegate.fitness.FitnessPolicy.SlowStart;
import dev.tidegate.fitness.Standing.BreakerState;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.Retries;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of endpoints by what checks and connections say, with time and chance in the hand. */
class JudgeTest {
    private static final long MILLI = 1_000_000L;
    private static final long SECOND = 1_000 * MILLI;
    private static final long START = 77 * SECOND;
    private static final long BASE_SECONDS = 30;
    private static final Panic NEVER = new Panic(0, true);
    private static final Breaker BREAKER = new Breaker(3, 10 * SECOND, 2);
    private static final SlowStart SLOW = new SlowStart(100 * SECOND, 1, 10);

    private long now = START;
    private double chance; // 0 to 1: where in the jitter a return falls
    private final List<String> told = new ArrayList<>();
    private final Counted counted = new Counted();
    private final Judge judge = judge(new RandomGenerator() {
        @Override
        public long nextLong() {
            throw new UnsupportedOperationException("only the jitter of returns is drawn");
        }

        @Override
        public double nextDouble() {
            return chance;
        }
    });
    private final BackendCell cell = new BackendCell("back", 0);
    private EndpointWatch watch;
    private FitnessPolicy policy;

    // ---- ejection

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

    // ---- failure rate

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

    // ---- breaker

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

    // ---- panic

    @ParameterizedTest
    @CsvSource({
        "4, 50, 2, false",
        "4, 50, 3, true",
        "5, 50, 2, false",
        "5, 50, 3, true",
        "3, 34, 2, true",
        "3, 33, 2, false",
        "4, 100, 1, true",
        "4, 100, 0, false",
        "4, 0, 4, false",
        "1, 50, 1, true"
    })
    void panicIsWhenTheShareOfTheFitIsBelowTheThreshold(int endpoints, int threshold, int down, boolean panic) {
        EndpointCell[] e = cells(endpoints);
        follow(true, checked(null, null, new Panic(threshold, true)), e);

        for (int i = 0; i < down; i++) {
            check(e[i], Unfit.DOWN);
        }

        assertEquals(panic, cell.panic());
        assertEquals(panic, cell.spreading());
        assertEquals(panic ? 1 : 0, told.size(), told.toString());
    }

    @Test
    void panicIsToldWhenItBeginsAndWhenItEnds() {
        EndpointCell[] e = cells(2);
        follow(true, checked(null, null, new Panic(50, true)), e);
        check(e[0], Unfit.DOWN);
        check(e[1], Unfit.NOT_READY);
        judge.tick();
        check(e[1], null);

        assertEquals(List.of("panic of back begins: 0 of 2", "panic of back ends: 1 of 2"), told);
        assertFalse(cell.spreading());
    }

    @Test
    void aPanicIsToldAfterWhatCausedIt() {
        EndpointCell[] e = cells(2);
        follow(true, checked(null, null, new Panic(80, true)), e);

        judge.onChecked(
                e[0], Unfit.DOWN, () -> told.add("down, fit: " + e[0].fitness().fit()));
        judge.onChecked(e[0], null, () -> told.add("up, fit: " + e[0].fitness().fit()));

        assertEquals(
                List.of(
                        "down, fit: false",
                        "panic of back begins: 1 of 2",
                        "up, fit: true",
                        "panic of back ends: 2 of 2"),
                told);
    }

    @Test
    void inPanicARefusingBackendDoesNotSpread() {
        EndpointCell[] e = cells(2);
        follow(true, checked(null, null, new Panic(50, false)), e);
        check(e[0], Unfit.DOWN);
        check(e[1], Unfit.DOWN);

        assertTrue(cell.panic());
        assertFalse(cell.spreading());
    }

    @Test
    void endpointsThatTakeNoConnectionsDoNotCountForPanic() {
        EndpointCell[] e = cells(4);
        follow(true, checked(null, null, new Panic(50, true)), e);
        check(e[0], Unfit.DOWN);
        check(e[1], Unfit.DOWN);
        e[0].close(Closed.DRAINING, true);
        e[1].close(Closed.DISABLED, true);
        e[2].close(Closed.DRAINING, true);
        judge.tick();
        assertFalse(cell.panic(), "the one that is left is up");

        e[0].close(Closed.DRAINING, false);
        e[1].close(Closed.DISABLED, false);
        judge.tick();

        assertTrue(cell.panic(), "one of three");
    }

    /** envoyproxy/envoy#6653: new hosts counted as sick until their first check, and a rolling update brought panic. */
    @Test
    void newEndpointsBeforeTheirFirstCheckBringNoPanic() {
        EndpointCell[] before = cells(8);
        FitnessPolicy unknown = checked(Unfit.UNCHECKED, null, new Panic(50, true));
        follow(true, unknown, before);
        for (EndpointCell one : before) {
            check(one, null);
        }
        EndpointCell[] after = cells(8);
        after[0] = before[6];
        after[1] = before[7];

        follow(false, unknown, after);

        assertFalse(cell.panic());
        assertFalse(cell.spreading());
        assertEquals(6, count(after, Unfit.UNCHECKED));
        check(after[2], Unfit.DOWN);
        check(after[3], Unfit.DOWN);
        assertFalse(cell.panic(), "two of four");
        check(after[4], Unfit.DOWN);
        assertTrue(cell.panic(), "two of five");
    }

    @Test
    void whileNoneIsCheckedConnectionsAreSpreadAndThatIsNoPanic() {
        EndpointCell[] e = cells(3);

        follow(true, checked(Unfit.UNCHECKED, null, new Panic(50, true)), e);
        assertFalse(cell.panic());
        assertTrue(cell.spreading());
        check(e[0], null);

        assertFalse(cell.spreading());
        assertEquals(List.of(), told);
    }

    @Test
    void whileNoneIsCheckedARefusingBackendSpreadsNothing() {
        follow(true, checked(Unfit.UNCHECKED, null, new Panic(50, false)), cells(3));

        assertFalse(cell.panic());
        assertFalse(cell.spreading());
    }

    @Test
    void endpointsThatAreDownAtFirstCount() {
        EndpointCell[] e = cells(2);
        follow(true, checked(Unfit.DOWN, null, new Panic(50, true)), e);
        assertTrue(cell.panic());

        check(e[0], null);

        assertFalse(cell.panic());
        assertTrue(e[0].fitness().fit());
    }

    @ParameterizedTest
    @EnumSource(
            value = Unfit.class,
            names = {"DOWN", "NOT_READY", "UNCHECKED"})
    void eachWordOfChecksTakesThePlaceOfTheOneBefore(Unfit word) {
        EndpointCell[] e = cells(2);
        follow(true, checked(null, null, NEVER), e);
        for (Unfit before : List.of(Unfit.DOWN, Unfit.NOT_READY, Unfit.UNCHECKED)) {
            check(e[0], before);
            check(e[0], word);
            assertTrue(e[0].fitness().unfit(word));
            assertTrue(e[0].fitness().soundBut(word), before + " stays beside " + word);
        }
        check(e[0], null);

        assertTrue(e[0].fitness().fit());
    }

    // ---- slow start

    @ParameterizedTest
    @CsvSource({
        "1.0, 10, 0, 100", "1.0, 10, 5, 100", "1.0, 10, 50, 500", "1.0, 10, 99, 990", "1.0, 10, 100, 1000",
        "1.0, 10, 500, 1000", "2.0, 10, 0, 100", "2.0, 10, 25, 500", "2.0, 10, 81, 900", "2.0, 10, 100, 1000",
        "0.5, 1, 50, 250", "1.0, 0, 0, 1", "1.0, 100, 0, 1000"
    })
    void theShareFollowsTheCurve(double aggression, int least, long percentOfWindow, int thousandths) {
        SlowStart slow = new SlowStart(100 * SECOND, aggression, least);

        assertEquals(thousandths, SlowStarts.thousandths(slow, percentOfWindow * SECOND));
    }

    @Test
    void atTheProcessStartNoneGrows() {
        EndpointCell[] plain = cells(2);
        follow(true, policy(null, null, SLOW), plain);
        assertEquals(Fitness.FULL_SHARE, plain[0].fitness().share());

        EndpointCell[] unknown = cells(2);
        follow(true, slowAndChecked(Unfit.UNCHECKED), unknown);
        check(unknown[0], null);
        judge.tick();

        assertEquals(Fitness.FULL_SHARE, unknown[0].fitness().share());
    }

    /** It was taken for one that starts with the process, however late it came up. */
    @ParameterizedTest
    @EnumSource(
            value = Unfit.class,
            names = {"DOWN", "NOT_READY"})
    void whoIsFoundUnfitAtTheStartGrowsWhenItIsUp(Unfit found) {
        EndpointCell[] e = cells(2);
        follow(true, slowAndChecked(Unfit.UNCHECKED), e);
        check(e[0], null);
        check(e[1], found);
        pass(Duration.ofSeconds(2));

        check(e[1], null);

        assertEquals(100, e[1].fitness().share());
        assertEquals(Fitness.FULL_SHARE, e[0].fitness().share());
    }

    @Test
    void whoIsAssumedDownAtTheStartGrowsOnlyIfAFirstCheckFoundItSo() {
        EndpointCell[] e = cells(2);
        follow(true, slowAndChecked(Unfit.DOWN), e);
        judge.onFoundUnfit(e[1]);
        pass(Duration.ofSeconds(2));

        check(e[0], null);
        check(e[1], null);

        assertEquals(Fitness.FULL_SHARE, e[0].fitness().share());
        assertEquals(100, e[1].fitness().share());
    }

    /** Drained before a restart, and undrained after it. */
    @ParameterizedTest
    @EnumSource(
            value = Closed.class,
            names = {"DRAINING", "DISABLED", "WEIGHTLESS"})
    void whoIsClosedAtTheStartGrowsWhenAnOperatorOpensIt(Closed why) {
        EndpointCell[] e = cells(2);
        e[0].close(why, true);
        follow(true, policy(null, null, SLOW), e);
        assertEquals(100, e[0].fitness().share());

        e[0].close(why, false);
        follow(false, policy, e);

        assertEquals(100, e[0].fitness().share());
        assertEquals(Fitness.FULL_SHARE, e[1].fitness().share());
    }

    /** A name that DNS knows at last, a check that takes its time. */
    @ParameterizedTest
    @CsvSource({"9999, 1000", "10000, 100"})
    void theStartLastsTenSeconds(long millis, int share) {
        EndpointCell[] e = cells(3);
        e[1].resolve(List.of());
        follow(true, slowAndChecked(Unfit.UNCHECKED), e);
        check(e[1], null);
        pass(Duration.ofMillis(millis));

        e[1].resolve(e[0].addresses());
        judge.tick();
        check(e[2], null);

        assertEquals(share, e[1].fitness().share());
        assertEquals(share, e[2].fitness().share());
    }

    @Test
    void aNewEndpointGrowsToItsWholeShare() {
        EndpointCell[] e = cells(2);
        follow(true, policy(null, null, SLOW), e[0]);

        follow(false, policy(null, null, SLOW), e);
        assertEquals(100, e[1].fitness().share());
        assertEquals(Fitness.FULL_SHARE, e[0].fitness().share());
        now += 50 * SECOND;
        assertTrue(judge.tick());
        assertEquals(500, e[1].fitness().share());
        now += 50 * SECOND;
        judge.tick();

        assertEquals(Fitness.FULL_SHARE, e[1].fitness().share());
        assertFalse(judge.tick(), "time brings nothing more");
    }

    @Test
    void aNewEndpointThatIsCheckedBeginsToGrowWhenItIsUp() {
        EndpointCell[] e = cells(2);
        follow(true, slowAndChecked(Unfit.UNCHECKED), e[0]);
        check(e[0], null);
        follow(false, slowAndChecked(Unfit.UNCHECKED), e);
        pass(Duration.ofSeconds(60));

        check(e[1], null);

        assertEquals(100, e[1].fitness().share());
    }

    @Test
    void anEndpointThatComesBackGrowsFromTheBeginningEachTime() {
        EndpointCell[] e = cells(2);
        follow(true, slowAndChecked(null), e);
        for (int i = 0; i < 3; i++) {
            check(e[0], Unfit.DOWN);
            pass(Duration.ofSeconds(7));
            check(e[0], null);
            assertEquals(100, e[0].fitness().share());
            pass(Duration.ofSeconds(40));
            assertEquals(400, e[0].fitness().share());
        }
    }

    @Test
    void anEndpointThatIsStillUnfitForAnotherReasonDoesNotGrowYet() {
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
        check(e[0], Unfit.NOT_READY);
        fail(e[0], 3);
        check(e[0], null);
        pass(Duration.ofSeconds(29));
        pass(Duration.ofSeconds(1));
        assertTrue(e[0].fitness().fit());

        assertEquals(100, e[0].fitness().share());
    }

    @Test
    void anEndpointThatReturnsFromItsEjectionGrows() {
        EndpointCell[] e = cells(3);
        follow(true, policy(outlier(3, 50), null, SLOW), e);

        ejectAndReturn(e[0]);

        assertEquals(100, e[0].fitness().share());
    }

    @Test
    void anEndpointWhoseBreakerClosesGrows() {
        EndpointCell[] e = cells(3);
        follow(true, policy(null, BREAKER, SLOW), e);
        fail(e[0], 3);
        pass(Duration.ofSeconds(10));
        watch.onConnected(e[0]);

        assertEquals(100, e[0].fitness().share());
    }

    @Test
    void anUndrainedEndpointGrows() {
        EndpointCell[] e = cells(2);
        follow(true, policy(null, null, SLOW), e);
        e[0].close(Closed.DRAINING, true);
        follow(false, policy, e);

        e[0].close(Closed.DRAINING, false);
        follow(false, policy, e);

        assertEquals(100, e[0].fitness().share());
        assertEquals(Fitness.FULL_SHARE, e[1].fitness().share());
    }

    /** Workers look at any moment: who sees it fit must not see its whole share. */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void inNoMomentItIsFitWithItsWholeShare(boolean byChecks) throws Exception {
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
        int times = 300;
        AtomicInteger whole = new AtomicInteger();
        CyclicBarrier turn = new CyclicBarrier(2);
        Fitness fitness = e[0].fitness();
        Thread worker = new Thread(() -> {
            for (int i = 0; i < times; i++) {
                await(turn);
                while (!fitness.fit()) {
                    Thread.onSpinWait();
                }
                if (fitness.share() == Fitness.FULL_SHARE) {
                    whole.incrementAndGet();
                }
                await(turn);
            }
        });
        worker.setDaemon(true);
        worker.start();
        for (int i = 0; i < times; i++) {
            if (byChecks) {
                check(e[0], Unfit.DOWN);
            } else {
                fail(e[0], 3);
            }
            assertFalse(fitness.fit());
            await(turn);
            if (byChecks) {
                check(e[0], null);
            } else {
                pass(Duration.ofMinutes(5));
            }
            await(turn);
        }
        worker.join();

        assertEquals(0, whole.get());
    }

    // ---- what changes at run time

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

    // ---- how

    private static void await(CyclicBarrier turn) {
        try {
            turn.await(30, TimeUnit.SECONDS);
        } catch (Exception broken) {
            throw new IllegalStateException("the other thread does not come", broken);
        }
    }

    private Judge judge(RandomGenerator random) {
        return new Judge(() -> now, this::instant, random, new Told(), counted, Runnable::run);
    }

    private Instant instant() {
        return Instant.EPOCH.plusNanos(now - START);
    }

    private EndpointCell[] start(Outlier outlier, int endpoints) {
        EndpointCell[] e = cells(endpoints);
        follow(true, policy(outlier, null, null), e);
        return e;
    }

    private static EndpointCell[] cells(int count) {
        EndpointCell[] cells = new EndpointCell[count];
        Arrays.setAll(
                cells,
                i -> new EndpointCell(
                        "back",
                        "e" + i,
                        i,
                        List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7_000 + i))));
        return cells;
    }

    private static Outlier outlier(int failuresInRow, int maxEjected) {
        return new Outlier(
                failuresInRow, 0, 20, 10 * SECOND, 0, BASE_SECONDS * SECOND, 10 * BASE_SECONDS * SECOND, maxEjected);
    }

    private static FitnessPolicy policy(Outlier outlier, Breaker breaker, SlowStart slow) {
        return new FitnessPolicy(
                false,
                Optional.empty(),
                Optional.ofNullable(outlier),
                Optional.ofNullable(breaker),
                Optional.ofNullable(slow),
                NEVER);
    }

    private static FitnessPolicy checked(Unfit initial, Outlier outlier, Panic panic) {
        return new FitnessPolicy(
                true,
                Optional.ofNullable(initial),
                Optional.ofNullable(outlier),
                Optional.empty(),
                Optional.empty(),
                panic);
    }

    private static FitnessPolicy slowAndChecked(Unfit initial) {
        return new FitnessPolicy(
                true, Optional.ofNullable(initial), Optional.empty(), Optional.empty(), Optional.of(SLOW), NEVER);
    }

    private void follow(boolean atStart, FitnessPolicy next, EndpointCell... endpoints) {
        follow(judge, atStart, next, endpoints);
    }

    private void follow(Judge by, boolean atStart, FitnessPolicy next, EndpointCell... endpoints) {
        policy = next;
        watch = by.watch("back", next);
        List<Endpoint> list = Arrays.stream(endpoints)
                .map(one -> new Endpoint(one.address(), 1, Integer.MAX_VALUE, one))
                .toList();
        Backend backend = new Backend(
                cell,
                BalancePolicy.ROUND_ROBIN,
                Pickers.of(BalancePolicy.ROUND_ROBIN),
                new EndpointList(list, cell),
                new ConnectPolicy(2 * SECOND, 3, 5 * SECOND, ProxyProtocol.OFF),
                Retries.UNBOUNDED,
                watch);
        by.follow(List.of(backend), Map.of("back", next), atStart);
    }

    private void check(EndpointCell endpoint, Unfit unfit) {
        judge.onChecked(endpoint, unfit, () -> {});
    }

    private void fail(EndpointCell endpoint, int times) {
        fail(endpoint, times, Failure.REFUSED);
    }

    private void fail(EndpointCell endpoint, int times, Failure kind) {
        for (int i = 0; i < times; i++) {
            watch.onFailure(endpoint, kind);
        }
    }

    private void pass(Duration time) {
        pass(judge, time);
    }

    private void pass(Judge by, Duration time) {
        now += time.toNanos();
        by.tick();
    }

    private long ejectAndReturn(EndpointCell endpoint) {
        return ejectAndReturn(endpoint, 3);
    }

    private long ejectAndReturn(EndpointCell endpoint, int failures) {
        return ejectAndReturn(judge, endpoint, failures);
    }

    /** Ejects it, sees it back to the nanosecond, and tells how long it was out. */
    private long ejectAndReturn(Judge by, EndpointCell endpoint, int failures) {
        fail(endpoint, failures);
        assertTrue(endpoint.fitness().unfit(Unfit.EJECTED));
        long lasts = Duration.between(instant(), by.standing(endpoint).ejectedUntil())
                .toNanos();
        pass(by, Duration.ofNanos(lasts - 1));
        assertTrue(endpoint.fitness().unfit(Unfit.EJECTED), "a moment before its time is over");
        pass(by, Duration.ofNanos(1));
        assertFalse(endpoint.fitness().unfit(Unfit.EJECTED), "its time is over");
        assertNull(by.standing(endpoint).ejectedUntil());
        return lasts;
    }

    private static long count(EndpointCell[] endpoints, Unfit why) {
        return Arrays.stream(endpoints).filter(one -> one.fitness().unfit(why)).count();
    }

    private final class Told implements Chronicle {
        @Override
        public void onEndpoint(EndpointCell endpoint, Change change, String why) {
            told.add(change.word() + " " + endpoint.address() + ": " + why);
        }

        @Override
        public void onPanic(String backend, boolean panic, int fit, int of) {
            told.add("panic of " + backend + (panic ? " begins: " : " ends: ") + fit + " of " + of);
        }
    }

    /** What workers would have counted. */
    private static final class Counted implements Tally {
        private final IdentityHashMap<EndpointCell, long[]> counts = new IdentityHashMap<>();

        void add(EndpointCell endpoint, long answered, long failures) {
            long[] both = counts.computeIfAbsent(endpoint, missing -> new long[2]);
            both[0] += answered;
            both[1] += failures;
        }

        @Override
        public long answered(EndpointCell endpoint) {
            return counts.getOrDefault(endpoint, new long[2])[0];
        }

        @Override
        public long failures(EndpointCell endpoint) {
            return counts.getOrDefault(endpoint, new long[2])[1];
        }
    }
}
