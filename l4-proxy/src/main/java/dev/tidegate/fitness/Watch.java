package dev.tidegate.fitness;

import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;

/**
 * Counts rows of failures where they happen, and passes on only what may change a verdict. Any thread.
 */
final class Watch implements EndpointWatch {
    /** What is passed on; any thread. */
    interface Reports {
        void onFailures(EndpointCell endpoint, Failure last, int inRow);

        void onConnectFailures(EndpointCell endpoint, Failure last, int inRow);

        void onTrialPassed(EndpointCell endpoint);
    }

    private final int failures; // in a row that are reported, each multiple; 0: none
    private final int connectFailures;
    private final long firstByteNanos;
    private final Reports reports;

    Watch(FitnessPolicy policy, Reports reports) {
        failures = policy.outlier().map(FitnessPolicy.Outlier::failuresInRow).orElse(0);
        firstByteNanos =
                policy.outlier().map(FitnessPolicy.Outlier::firstByteNanos).orElse(ANY_TIME);
        connectFailures =
                policy.breaker().map(FitnessPolicy.Breaker::failuresInRow).orElse(0);
        this.reports = reports;
    }

    @Override
    public void onConnected(EndpointCell endpoint) {
        if (connectFailures != 0) {
            Fitness fitness = endpoint.fitness();
            fitness.endConnectFailures();
            if (fitness.onTrial()) {
                reports.onTrialPassed(endpoint);
            }
        }
    }

    @Override
    public void onAnswered(EndpointCell endpoint) {
        endpoint.fitness().endFailures();
    }

    @Override
    public void onFailure(EndpointCell endpoint, Failure failure) {
        Fitness fitness = endpoint.fitness();
        if (failures != 0) {
            int inRow = fitness.addFailure();
            if (inRow % failures == 0) {
                reports.onFailures(endpoint, failure, inRow);
            }
        }
        if (connectFailures != 0 && failure.ofConnect()) {
            int inRow = fitness.addConnectFailure();
            if (fitness.onTrial() || inRow % connectFailures == 0) {
                reports.onConnectFailures(endpoint, failure, inRow);
            }
        }
    }

    @Override
    public long firstByteNanos() {
        return firstByteNanos;
    }

    @Override
    public boolean opensBreakers() {
        return connectFailures != 0;
    }
}
