package dev.tidegate.cli;

import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.Snapshot;
import java.util.Collections;
import java.util.List;

/**
 * The few clients that never leave by themselves, twice: by a frontend that lets them, and by one that limits the age of a
 * connection. All are on one endpoint until others join.
 *
 * <p>Used by the demo's thread.
 */
final class DemoSticky {
    /** The frontend and the backend of those that may stay. */
    static final String WITHOUT = "without-limit";

    /** The frontend and the backend of those that may not. */
    static final String WITH = "with-max-age";

    /**
     * How they fare.
     *
     * @param without on each endpoint, connections without a limit
     * @param with on each endpoint, connections with one
     * @param maxAge the limit, in the configuration's words
     * @param joined whether the other endpoints have joined
     * @param spreadNanos how long after that those with a limit were spread; below 0 before
     * @param totals what those with a limit saw
     */
    record View(
            List<Integer> without,
            List<Integer> with,
            String maxAge,
            boolean joined,
            long spreadNanos,
            DemoTotals.View totals) {}

    private final String maxAge;
    private final DemoCrowd without;
    private final DemoCrowd with;
    private List<Integer> placesWithout = List.of();
    private List<Integer> placesWith = List.of();
    private long joinedNanos = -1;
    private long spreadNanos = -1;

    DemoSticky(String maxAge, DemoCrowd without, DemoCrowd with) {
        this.maxAge = maxAge;
        this.without = without;
        this.with = with;
    }

    void start() {
        without.start();
        with.start();
    }

    /** Looks where they are. */
    void look(Snapshot snapshot, boolean joined, long elapsedNanos) {
        placesWithout = places(snapshot, WITHOUT);
        placesWith = places(snapshot, WITH);
        if (joined && joinedNanos < 0 && placesWith.size() > 1) {
            joinedNanos = elapsedNanos;
        }
        if (joinedNanos >= 0 && spreadNanos < 0 && spread(placesWith)) {
            spreadNanos = elapsedNanos - joinedNanos;
        }
    }

    private static List<Integer> places(Snapshot snapshot, String backend) {
        return snapshot.backends().stream()
                .filter(each -> each.name().equals(backend))
                .map(Backend::endpoints)
                .flatMap(endpoints -> endpoints.all().stream())
                .map(Endpoint::cell)
                .map(cell -> cell.inFlight())
                .toList();
    }

    /** Nobody has more than one above an even share, and nobody has none. */
    private static boolean spread(List<Integer> places) {
        int even = (DemoCrowd.FEW + places.size() - 1) / places.size();
        return Collections.min(places) > 0 && Collections.max(places) <= even + 1;
    }

    View view() {
        return new View(placesWithout, placesWith, maxAge, joinedNanos >= 0, spreadNanos, with.totals());
    }

    /** See {@link DemoCrowd#tryHold}. */
    boolean tryHold() {
        boolean held = without.tryHold();
        return with.tryHold() && held;
    }

    void release() {
        without.release();
        with.release();
    }

    void leave() {
        without.leave();
        with.leave();
    }
}
