package dev.tidegate.model;

/**
 * A named set of endpoints with one balancing policy, as one snapshot sees it. Immutable, save for its cell.
 *
 * @param cell what outlives the snapshot
 * @param policy how it spreads connections
 * @param picker what carries the policy out; outlives the snapshot
 * @param endpoints in the order of the configuration
 * @param connect how endpoints are reached
 * @param retries how many further attempts there may be; outlives the snapshot
 * @param watch is told how connections fare
 */
public record Backend(
        BackendCell cell,
        BalancePolicy policy,
        Picker picker,
        EndpointList endpoints,
        ConnectPolicy connect,
        Retries retries,
        EndpointWatch watch) {
    /** A backend on which nobody keeps watch. */
    public Backend(
            String name, int slot, BalancePolicy policy, Picker picker, EndpointList endpoints, ConnectPolicy connect) {
        this(new BackendCell(name, slot), policy, picker, endpoints, connect, Retries.UNBOUNDED, EndpointWatch.NONE);
    }

    /** Unique among backends. */
    public String name() {
        return cell.name();
    }

    /** Its place in each worker's counters. */
    public int slot() {
        return cell.slot();
    }

    /** Whether a pick could find an endpoint now. */
    public boolean hasCandidate() {
        for (int i = 0; i < endpoints.size(); i++) {
            if (endpoints.candidate(i)) {
                return true;
            }
        }
        return false;
    }
}
