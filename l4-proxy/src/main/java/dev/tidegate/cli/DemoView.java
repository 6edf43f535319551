package dev.tidegate.cli;

import java.util.List;
import java.util.Locale;

/**
 * What the demo shows at one moment. Immutable.
 *
 * @param elapsedNanos since the demo began
 * @param endpoints in the order of the configuration
 * @param totals what the clients saw
 * @param movedOn connects made to another endpoint after one had failed
 * @param left connections that a drain ended between two requests
 * @param cut connections that a drain cut
 * @param sticky how the few fare that never leave by themselves
 * @param news what happens just now, in words
 */
record DemoView(
        long elapsedNanos,
        List<Row> endpoints,
        DemoTotals.View totals,
        long movedOn,
        long left,
        long cut,
        DemoSticky.View sticky,
        String news) {
    /** Whether an endpoint takes connections, and if not, why. */
    enum State {
        /** It does. */
        READY,
        /** Its port is closed. */
        CLOSED,
        /** The balancer sends nobody there any more. */
        DRAINING
    }

    /**
     * One endpoint.
     *
     * @param name its name
     * @param state whether it takes connections
     * @param inFlight the balancer's count of connections to it
     * @param connects connections made to it so far
     * @param refused connects that it refused so far
     * @param requests that clients have begun on connections to it
     */
    record Row(String name, State state, int inFlight, long connects, long refused, long requests) {
        /** Its name, and what is unusual about it. */
        String label() {
            return state == State.READY ? name : name + " " + state.name().toLowerCase(Locale.ROOT);
        }
    }

    /** Connections to all endpoints. */
    int inFlight() {
        return endpoints.stream().mapToInt(Row::inFlight).sum();
    }

    /** An endpoint's share of the connections, in percent, rounded. */
    int sharePercent(Row row) {
        int all = inFlight();
        return all == 0 ? 0 : Math.round(100f * row.inFlight() / all);
    }

    /** Connects that were refused by any endpoint. */
    long refused() {
        return endpoints.stream().mapToLong(Row::refused).sum();
    }
}
