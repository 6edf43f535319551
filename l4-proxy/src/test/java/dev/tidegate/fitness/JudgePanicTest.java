package dev.tidegate.fitness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.fitness.FitnessPolicy.Panic;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Fitness.Unfit;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is unfit, and panic. */
final class JudgePanicTest extends JudgeFixture {
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
}
