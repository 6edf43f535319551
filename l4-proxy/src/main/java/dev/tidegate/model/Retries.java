package dev.tidegate.model;

/** How many attempts after a connection's first a backend allows. Outlives snapshots; any thread. */
public interface Retries {
    /** As many as each connection may make by itself. */
    Retries UNBOUNDED = new Retries() {
        @Override
        public void onConnection(long nowNanos) {}

        @Override
        public boolean tryRetry(long nowNanos) {
            return true;
        }
    };

    /** A connection makes its first attempt. */
    void onConnection(long nowNanos);

    /** Takes one further attempt, if there is one left. */
    boolean tryRetry(long nowNanos);
}
