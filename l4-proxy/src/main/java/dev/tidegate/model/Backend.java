package dev.tidegate.model;

/**
 * A named set of endpoints with one balancing policy, as one snapshot sees it. Immutable.
 *
 * @param name unique among backends
 * @param slot its place in each worker's counters
 * @param policy how it spreads connections
 * @param picker what carries the policy out; outlives the snapshot
 * @param endpoints in the order of the configuration
 * @param connect how endpoints are reached
 */
public record Backend(
        String name, int slot, BalancePolicy policy, Picker picker, EndpointList endpoints, ConnectPolicy connect) {
    /** Whether a pick could find an endpoint now. */
    public boolean hasCandidate() {
        for (int i = 0; i < endpoints.size(); i++) {
            if (endpoints.at(i).pickable()) {
                return true;
            }
        }
        return false;
    }
}
