package dev.tidegate.fitness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.fitness.FitnessPolicy.SlowStart;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Who grows to a whole share, and how. */
final class JudgeSlowStartTest extends JudgeFixture {
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

    private static void await(CyclicBarrier turn) {
        try {
            turn.await(30, TimeUnit.SECONDS);
        } catch (Exception broken) {
            throw new IllegalStateException("the other thread does not come", broken);
        }
    }
}
