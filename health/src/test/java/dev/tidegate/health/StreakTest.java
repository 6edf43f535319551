package dev.tidegate.health;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class StreakTest {
    private static final CheckPlan RISE_2_FALL_3 = Targets.plan((context, address, done) -> {
        throw new AssertionError("not run here");
    });

    /** P: pass, F: fail, N: not ready. */
    private static Word word(char letter) {
        return switch (letter) {
            case 'P' -> Word.PASS;
            case 'F' -> Word.FAIL;
            case 'N' -> Word.NOT_READY;
            default -> throw new IllegalArgumentException("no such word: " + letter);
        };
    }

    private static String run(Condition from, String words) {
        Streak streak = new Streak(from);
        List<String> seen = new ArrayList<>();
        for (int i = 0; i < words.length(); i++) {
            streak.onResult(word(words.charAt(i)), RISE_2_FALL_3, true);
            seen.add(streak.condition().word() + " " + streak.inRow() + "/" + streak.needed(RISE_2_FALL_3));
        }
        return String.join(", ", seen);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "UNKNOWN   | P      | up 0/3",
                "UNKNOWN   | F      | down 0/2",
                "UNKNOWN   | N      | not-ready 0/2",
                "DOWN      | PP     | down 1/2, up 0/3",
                "DOWN      | PFPP   | down 1/2, down 0/2, down 1/2, up 0/3",
                "DOWN      | NN     | down 1/2, not-ready 0/2",
                "DOWN      | NPNN   | down 1/2, down 1/2, down 1/2, not-ready 0/2",
                "DOWN      | FFFF   | down 0/2, down 0/2, down 0/2, down 0/2",
                "UP        | FFF    | up 1/3, up 2/3, down 0/2",
                "UP        | NNN    | up 1/3, up 2/3, not-ready 0/2",
                "UP        | FFN    | up 1/3, up 2/3, not-ready 0/2",
                "UP        | NNF    | up 1/3, up 2/3, down 0/2",
                "UP        | FFPFFP | up 1/3, up 2/3, up 0/3, up 1/3, up 2/3, up 0/3",
                "NOT_READY | FFF    | not-ready 1/3, not-ready 2/3, down 0/2",
                "NOT_READY | FFNFFF | not-ready 1/3, not-ready 2/3, not-ready 0/2, not-ready 1/3, not-ready 2/3, down 0/2",
                "NOT_READY | FFPP   | not-ready 1/3, not-ready 2/3, not-ready 1/2, up 0/3",
                "NOT_READY | PNPP   | not-ready 1/2, not-ready 0/2, not-ready 1/2, up 0/3",
            })
    void conditionsChangeAfterEnoughInARowAndNotBefore(Condition from, String words, String seen) {
        assertEquals(seen, run(from, words));
    }

    @Test
    void passesWhileItMayNotRiseAreKeptAndTheNextBringsItUp() {
        Streak streak = new Streak(Condition.DOWN);
        for (int i = 0; i < 5; i++) {
            streak.onResult(Word.PASS, RISE_2_FALL_3, false);
        }
        assertEquals(Condition.DOWN, streak.condition());
        assertEquals(2, streak.inRow());

        streak.onResult(Word.PASS, RISE_2_FALL_3, true);

        assertEquals(Condition.UP, streak.condition());
    }

    @Test
    void itChangesBetweenDownAndNotReadyThoughItMayNotRise() {
        Streak streak = new Streak(Condition.DOWN);

        streak.onResult(Word.NOT_READY, RISE_2_FALL_3, false);
        streak.onResult(Word.NOT_READY, RISE_2_FALL_3, false);

        assertEquals(Condition.NOT_READY, streak.condition());
    }

    @ParameterizedTest
    @EnumSource
    void aVoidCheckIsNoResult(Condition condition) {
        Streak streak = new Streak(condition);

        assertThrows(IllegalArgumentException.class, () -> streak.onResult(Word.VOID, RISE_2_FALL_3, true));
    }
}
