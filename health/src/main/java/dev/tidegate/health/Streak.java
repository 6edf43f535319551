package dev.tidegate.health;

/**
 * Results in a row, and the condition that they make. Confined to the checks' loop; pure.
 *
 * <pre>
 * UNKNOWN             the first result decides at once
 * UP        → out     {@code fall} results in a row that are no pass; the last one decides: DOWN or NOT_READY
 * DOWN, NOT_READY→UP  {@code rise} passes in a row
 * NOT_READY → DOWN    {@code fall} fails in a row
 * DOWN → NOT_READY    {@code rise} not-readys in a row
 * </pre>
 *
 * <p>Any other result breaks the row. A void one is no result and is never given here.
 */
final class Streak {
    private Condition condition;
    private Word word = Word.PASS; // of the row
    private int inRow;

    Streak(Condition initial) {
        condition = initial;
    }

    Condition condition() {
        return condition;
    }

    /** Results in a row that speak for a change. */
    int inRow() {
        return inRow;
    }

    /** How many it takes: of the row there is, or, when there is none, of the row that would change it soonest. */
    int needed(CheckPlan plan) {
        return switch (condition) {
            case UNKNOWN -> 1;
            case UP -> plan.fall();
            case DOWN -> plan.rise();
            case NOT_READY -> inRow > 0 && word == Word.FAIL ? plan.fall() : plan.rise();
        };
    }

    /**
     * Takes one more result.
     *
     * @param mayRise whether enough passes bring it up; if not they are kept, and the next pass after that does
     */
    void onResult(Word result, CheckPlan plan, boolean mayRise) {
        if (result == Word.VOID) {
            throw new IllegalArgumentException("a void check is no result");
        }
        if (condition == Condition.UNKNOWN) {
            enter(of(result));
        } else if (of(result) == condition) {
            inRow = 0;
        } else {
            extend(result);
            boolean barred = result == Word.PASS && !mayRise;
            if (inRow >= needed(plan)) {
                if (barred) {
                    inRow = needed(plan);
                } else {
                    enter(of(result));
                }
            }
        }
    }

    /** Forgets the row; the condition stays. */
    void forget() {
        inRow = 0;
    }

    /** Up, all that is no pass is one row; else each word is a row of its own. */
    private void extend(Word result) {
        inRow = condition == Condition.UP || result == word ? inRow + 1 : 1;
        word = result;
    }

    private void enter(Condition next) {
        condition = next;
        inRow = 0;
    }

    private static Condition of(Word result) {
        return switch (result) {
            case PASS -> Condition.UP;
            case FAIL -> Condition.DOWN;
            case NOT_READY -> Condition.NOT_READY;
            case VOID -> throw new IllegalArgumentException("a void check is no result");
        };
    }
}
