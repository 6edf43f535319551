package dev.tidegate.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Fitness.Unfit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FitnessTest {
    private final Fitness fitness = new Fitness();

    @ParameterizedTest
    @EnumSource
    void eachReasonAloneMakesUnfit(Unfit why) {
        assertTrue(fitness.fit());

        fitness.set(why, true);

        assertFalse(fitness.fit());
        assertFalse(fitness.sound());
        assertTrue(fitness.unfit(why));
        for (Unfit other : Unfit.values()) {
            assertEquals(other == why, fitness.unfit(other));
            assertEquals(other == why, fitness.soundBut(other));
        }
        fitness.set(why, false);
        assertTrue(fitness.fit());
    }

    @Test
    void itIsFitAgainWhenTheLastReasonIsGone() {
        for (Unfit why : Unfit.values()) {
            fitness.set(why, true);
        }
        assertTrue(fitness.soundBut(Unfit.values()));
        for (Unfit why : Unfit.values()) {
            assertFalse(fitness.fit());
            fitness.set(why, false);
        }

        assertTrue(fitness.fit());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 1_001})
    void aShareOutOfRangeIsAnError(int thousandths) {
        assertThrows(IllegalArgumentException.class, () -> fitness.share(thousandths));

        assertEquals(Fitness.FULL_SHARE, fitness.share());
    }

    @Test
    void withoutTrialsNoneIsNeeded() {
        assertEquals(Fitness.TRIAL_NOT_NEEDED, fitness.tryTrial());
        fitness.endTrial(1);
        assertFalse(fitness.onTrial());
        assertTrue(fitness.fit());
    }

    @Test
    void aTrialThatIsGivenBackMayBeTakenAgainAndThereAreNeverMore() {
        fitness.beginTrials(1);
        int trial = takeTrial();
        fitness.endTrial(trial);
        fitness.endTrial(trial);
        assertEquals(trial, takeTrial());
        assertEquals(Fitness.TRIAL_REFUSED, fitness.tryTrial());
        assertFalse(fitness.fit());
        assertTrue(fitness.sound());

        fitness.endTrial(trial);

        assertTrue(fitness.fit());
        takeTrial();
        assertEquals(Fitness.TRIAL_REFUSED, fitness.tryTrial());
    }

    /** Or it would let one more through than are allowed. */
    @Test
    void aTrialOfAnEarlierPeriodGivenBackInALaterOneChangesNothing() {
        fitness.beginTrials(1);
        int early = takeTrial();
        fitness.endTrials(); // another has failed, and the breaker was open for a while
        fitness.beginTrials(1);
        takeTrial();

        fitness.endTrial(early);

        assertEquals(Fitness.TRIAL_REFUSED, fitness.tryTrial());
    }

    private int takeTrial() {
        int trial = fitness.tryTrial();
        assertTrue(trial > 0, "a trial: " + trial);
        return trial;
    }

    /** Such as one that another trial's success has made needless. */
    @Test
    void aTrialGivenBackAfterTheirEndChangesNothing() {
        fitness.beginTrials(2);
        int trial = takeTrial();
        fitness.endTrials();

        fitness.endTrial(trial);

        assertFalse(fitness.onTrial());
        assertEquals(Fitness.TRIAL_NOT_NEEDED, fitness.tryTrial());
    }

    @Test
    void fromManyThreadsThereAreNeverMoreTrialsAtATimeThanAllowed() throws InterruptedException {
        int most = 3;
        fitness.beginTrials(most);
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger highest = new AtomicInteger();
        AtomicInteger taken = new AtomicInteger();
        inThreads(6, () -> {
            for (int i = 0; i < 5_000; i++) {
                int trial = fitness.tryTrial();
                if (trial > 0) {
                    highest.accumulateAndGet(underWay.incrementAndGet(), Math::max);
                    taken.incrementAndGet();
                    underWay.decrementAndGet();
                    fitness.endTrial(trial);
                }
            }
        });

        assertTrue(highest.get() <= most, "at a time: " + highest);
        assertTrue(taken.get() >= 5_000, "taken: " + taken);
        for (int i = 0; i < most; i++) {
            takeTrial(); // all have been given back
        }
        assertEquals(Fitness.TRIAL_REFUSED, fitness.tryTrial());
    }

    @Test
    void ofManyThreadsThatAskAtOnceJustSoManyGetATrial() throws InterruptedException {
        fitness.beginTrials(5);
        AtomicInteger taken = new AtomicInteger();
        inThreads(8, () -> {
            for (int i = 0; i < 1_000; i++) {
                if (fitness.tryTrial() > 0) {
                    taken.incrementAndGet();
                }
            }
        });

        assertEquals(5, taken.get());
    }

    @Test
    void rowsOfFailuresAndOfFailedConnectsAreCountedApart() {
        assertEquals(1, fitness.addFailure());
        assertEquals(2, fitness.addFailure());
        assertEquals(1, fitness.addConnectFailure());

        fitness.endFailures();

        assertEquals(0, fitness.failuresInRow());
        assertEquals(1, fitness.connectFailuresInRow());
        fitness.endConnectFailures();
        assertEquals(0, fitness.connectFailuresInRow());
    }

    @Test
    void everyMultipleOfARowIsSeenByOneThread() throws InterruptedException {
        AtomicInteger multiples = new AtomicInteger();
        inThreads(4, () -> {
            for (int i = 0; i < 2_500; i++) {
                if (fitness.addFailure() % 5 == 0) {
                    multiples.incrementAndGet();
                }
            }
        });

        assertEquals(2_000, multiples.get());
    }

    @Test
    void checksAndEjectionsAreCounted() {
        fitness.countCheck(true, 10);
        fitness.countCheck(true, 20);
        fitness.countCheck(false, 30);
        fitness.countEjection();

        assertEquals(2, fitness.checksPassed());
        assertEquals(1, fitness.checksFailed());
        assertEquals(30, fitness.lastCheckMillis());
        assertEquals(1, fitness.ejections());
    }

    private static void inThreads(int count, Runnable task) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(task);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
