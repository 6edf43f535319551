package dev.tidegate.telemetry;

/** One worker's counts for one backend. The worker adds plainly; readers sum. */
public final class BackendRow {
    /** Attempts after a connection's first. */
    public long retries;
    /** Attempts that were not made, since the retry budget was spent. */
    public long budgetExhausted;

    BackendRow() {}
}
