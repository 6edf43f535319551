package dev.tidegate.admission;

import dev.tidegate.model.Frontend;

/**
 * May this connection come in? Asked in a fixed order: the process's limit, then the frontend's. Exact: a limit is never
 * passed, not even for a moment and from several workers.
 *
 * <p>Any thread.
 */
public final class Admission {
    private final ConnectionLimit process;

    /**
     * @param process the process's limit
     */
    public Admission(ConnectionLimit process) {
        this.process = process;
    }

    /** The answer. */
    public enum Verdict {
        /** Come in; {@link Admission#leave} must follow, once. */
        ADMITTED,
        /** The process is full. */
        PROCESS_FULL,
        /** The frontend is full. */
        FRONTEND_FULL
    }

    /** Asks, and counts the connection if it may come in. */
    public Verdict admit(Frontend frontend) {
        if (!process.tryEnter()) {
            return Verdict.PROCESS_FULL;
        }
        if (!frontend.cell().tryEnter(frontend.maxConnections())) {
            process.leave();
            return Verdict.FRONTEND_FULL;
        }
        return Verdict.ADMITTED;
    }

    /** A connection that was admitted has gone. */
    public void leave(Frontend frontend) {
        frontend.cell().leave();
        process.leave();
    }
}
