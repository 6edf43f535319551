package dev.tidegate.connection;

import dev.tidegate.lifetime.Quiet;
import dev.tidegate.model.Side;

/**
 * When bytes of a connection last moved (those read, those that a blocked write got rid of, and those that the kernel still
 * delivers of what was written), and what its talk sounds like: who spoke last, and how long the silences in it were.
 *
 * <p>Confined to the connection's worker. {@link #spoke} is called for every read.
 */
final class Progress {
    /** Before the first look at what the kernel still holds. */
    private static final long NOT_ASKED = Long.MIN_VALUE;

    private long lastNanos;
    private long spokenNanos;
    private Side lastSpoke;
    private boolean clientSpoke;
    private long longestPauseNanos;
    private long longestWaitNanos;
    private long written;
    private long undelivered = NOT_ASKED;
    private long undeliveredSinceNanos;

    Progress(long nowNanos) {
        lastNanos = nowNanos;
        spokenNanos = nowNanos;
    }

    /** When bytes last moved. */
    long lastNanos() {
        return lastNanos;
    }

    /** How long none has moved. */
    long silentNanos(long nowNanos) {
        return nowNanos - lastNanos;
    }

    /** Bytes move now. */
    void moved(long nowNanos) {
        lastNanos = nowNanos;
    }

    /** Bytes came from a side. Answers whether they begin an exchange: the client speaks, first or after the endpoint. */
    boolean spoke(Side from, long nowNanos) {
        long silence = nowNanos - spokenNanos;
        spokenNanos = nowNanos;
        lastNanos = nowNanos;
        Side before = lastSpoke;
        lastSpoke = from;
        if (from == Side.DOWNSTREAM) {
            clientSpoke = true;
            return before != Side.DOWNSTREAM;
        }
        if (before == Side.UPSTREAM) {
            longestPauseNanos = Math.max(longestPauseNanos, silence);
        } else if (before == Side.DOWNSTREAM) {
            longestWaitNanos = Math.max(longestWaitNanos, silence);
        }
        return false;
    }

    /** Whether the client has spoken and the endpoint not after it. */
    boolean clientSpokeLast() {
        return lastSpoke == Side.DOWNSTREAM;
    }

    /** Whether the client has spoken at all. */
    boolean clientSpoke() {
        return clientSpoke;
    }

    /** What silence is to be asked of it. */
    Quiet.Seen seen() {
        return new Quiet.Seen(clientSpokeLast(), longestPauseNanos, longestWaitNanos);
    }

    /**
     * Looks at how far writes have come.
     *
     * @param total a number that changes with each byte written
     * @param blocked whether some wait: then a change is progress; else bytes came since the last look, which is newer
     */
    void lookAtWrites(long total, boolean blocked, long nowNanos) {
        if (total != written) {
            if (blocked) {
                lastNanos = nowNanos;
            }
            written = total;
        }
    }

    /**
     * Looks at what the kernel still holds. The tail of what was written may take longer to be delivered than silence may
     * last: while the peer acknowledges, that is progress too.
     *
     * @param bytes written and not acknowledged yet
     */
    void lookAtDelivery(long bytes, long nowNanos) {
        if (bytes != undelivered) {
            lastNanos = undelivered == NOT_ASKED ? lastNanos : nowNanos;
            undelivered = bytes;
            undeliveredSinceNanos = nowNanos;
        }
    }

    /** For how long the kernel is known to have delivered nothing of what it holds; for ever where it holds nothing. */
    long undeliveredNanos(long nowNanos) {
        return undelivered == 0 ? Long.MAX_VALUE : nowNanos - undeliveredSinceNanos;
    }

    /** What the kernel holds is of no interest for now. */
    void forgetDelivery() {
        undelivered = NOT_ASKED;
    }
}
