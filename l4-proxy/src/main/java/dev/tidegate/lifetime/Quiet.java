package dev.tidegate.lifetime;

/**
 * How much silence a retiring connection must keep before it may be ended, when its bytes cannot be understood.
 *
 * <p>When the endpoint spoke last, an answer is probably whole after {@code quiet}, or after several times the longest pause
 * that this connection's answers have shown: tokens of a stream come tens to thousands of milliseconds apart. Four times,
 * and up to ten times while pauses have been short: their lengths have a long tail, and the longest of a few hundred says
 * little of the next. When the client spoke last, an answer may be owed, or it was a mere acknowledgement: much more is asked
 * for. Either way no more than half of what remains to the hard limit, so that the best moment on offer is taken, and never
 * less than {@code quiet}. Without a hard limit nothing presses.
 *
 * <p>Pure functions; any thread. All times in nanoseconds.
 */
public final class Quiet {
    /** How much longer than {@code quiet} an owed answer is waited for. */
    private static final int OWED_FACTOR = 4;
    /** How much longer than the longest wait for an answer. */
    private static final int WAIT_FACTOR = 2;
    /** How much longer than the longest pause within an answer, whatever its length. */
    private static final int PAUSE_FACTOR = 4;
    /** The same, as long as that is not more than {@link #SHORT_PAUSE_QUIETS} times {@code quiet}. */
    private static final int SHORT_PAUSE_FACTOR = 10;

    private static final int SHORT_PAUSE_QUIETS = 16;
    /** No setting and no silence is longer than this, so that no product overflows: some 73 years. */
    private static final long LONGEST = Long.MAX_VALUE / 4;

    private Quiet() {}

    /**
     * What has been seen of a connection.
     *
     * @param answerMayBeOwed whether the client spoke last
     * @param longestPauseNanos the longest pause within the endpoint's answers
     * @param longestWaitNanos the longest wait of the client for the endpoint
     */
    public record Seen(boolean answerMayBeOwed, long longestPauseNanos, long longestWaitNanos) {}

    /**
     * The silence that is needed when there is a hard limit.
     *
     * @param quietNanos the setting
     * @param graceNanos from the soft limit to the hard one
     * @param remainingNanos from now to the hard limit
     */
    public static long neededNanos(Seen seen, long quietNanos, long graceNanos, long remainingNanos) {
        long wanted = neededNanosUnlimited(seen, quietNanos);
        if (seen.answerMayBeOwed()) {
            wanted = Math.max(wanted, graceNanos / 2);
        }
        return Math.max(quietNanos, Math.min(wanted, remainingNanos / 2));
    }

    /** The same without a hard limit. */
    public static long neededNanosUnlimited(Seen seen, long quietNanos) {
        if (seen.answerMayBeOwed()) {
            return Math.max(times(OWED_FACTOR, quietNanos), times(WAIT_FACTOR, seen.longestWaitNanos()));
        }
        long pause = seen.longestPauseNanos();
        long generous = Math.min(times(SHORT_PAUSE_FACTOR, pause), times(SHORT_PAUSE_QUIETS, quietNanos));
        return Math.max(quietNanos, Math.max(times(PAUSE_FACTOR, pause), generous));
    }

    /**
     * How long a connection that stands between two known exchanges, and whose client can only be told in an answer, is to
     * wait for the next request, from when it was to end or last spoke.
     *
     * @param limited whether there is a hard limit
     * @param remainingNanos from now to the hard limit
     */
    public static long betweenExchangesNanos(boolean limited, long quietNanos, long remainingNanos) {
        return limited ? Math.max(quietNanos, remainingNanos / 2) : quietNanos;
    }

    private static long times(int factor, long nanos) {
        return factor * Math.min(nanos, LONGEST / factor);
    }
}
