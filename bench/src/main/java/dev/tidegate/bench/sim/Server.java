package dev.tidegate.bench.sim;

/** What works behind an endpoint. */
interface Server {
    /** Is told when a job is done. */
    interface Listener {
        void onDone(Job job);
    }

    /** Takes one more. */
    void accept(Job job);

    /** How many jobs are there, the one under work included. */
    int jobs();
}
