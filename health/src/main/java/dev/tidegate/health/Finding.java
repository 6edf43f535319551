package dev.tidegate.health;

/**
 * What one run of a probe found. Immutable.
 *
 * @param word in a word
 * @param detail why, for a person, in one line: {@code connection refused}, {@code HTTP 503}
 */
public record Finding(Word word, String detail) {
    /** The target answered as it should. */
    public static Finding pass(String detail) {
        return new Finding(Word.PASS, detail);
    }

    /** The target failed. */
    public static Finding fail(String detail) {
        return new Finding(Word.FAIL, detail);
    }

    /** The target wants no new work. */
    public static Finding notReady(String detail) {
        return new Finding(Word.NOT_READY, detail);
    }

    /** The check could not be carried out; the target is not to blame. */
    public static Finding voided(String detail) {
        return new Finding(Word.VOID, detail);
    }

    /** The check is broken itself, and has found out nothing. */
    public static Finding ofOwnFault(Throwable fault) {
        return voided(Faults.ownWords(fault));
    }

    /**
     * What a connect or a connection that failed with {@code fault} says, in plain words: {@link Word#VOID} when it is a
     * shortage of this machine (descriptors, source ports, memory) or an error of this program, else {@link Word#FAIL}.
     */
    public static Finding ofFault(Throwable fault) {
        String detail = Faults.words(fault);
        return Faults.isOurs(fault) ? voided(detail) : fail(detail);
    }
}
