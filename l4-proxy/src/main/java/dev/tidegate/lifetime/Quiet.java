package dev.tidegate.lifetime;

/**
 * How much silence a retiring connection must keep before it may be ended, when its bytes cannot be understood. When the
 * endpoint spoke last, an answer is probably whole after {@code quiet}; when the client spoke last, an answer may be owed
 * and much more is asked for. Either way no more than half of what remains to the hard limit, so that the best moment on
 * offer is taken, and never less than {@code quiet}. Without a hard limit nothing presses.
 *
 * <p>Pure functions; any thread.
 */
public final class Quiet {
    /** How much longer than {@code quiet} an owed answer is waited for. */
    private static final int OWED_FACTOR = 4;

    private Quiet() {}

    /**
     * Works it out.
     *
     * @param answerMayBeOwed whether the client spoke last
     * @param quietNanos the setting
     * @param graceNanos from the soft limit to the hard one
     * @param remainingNanos from now to the hard limit
     * @return the silence needed, in nanoseconds
     */
    public static long neededNanos(boolean answerMayBeOwed, long quietNanos, long graceNanos, long remainingNanos) {
        long wanted = answerMayBeOwed ? Math.max(OWED_FACTOR * quietNanos, graceNanos / 2) : quietNanos;
        return Math.max(quietNanos, Math.min(wanted, remainingNanos / 2));
    }

    /**
     * The same without a hard limit.
     *
     * @param answerMayBeOwed whether the client spoke last
     * @param quietNanos the setting
     * @return the silence needed, in nanoseconds
     */
    public static long neededNanosUnlimited(boolean answerMayBeOwed, long quietNanos) {
        return answerMayBeOwed ? OWED_FACTOR * quietNanos : quietNanos;
    }
}
