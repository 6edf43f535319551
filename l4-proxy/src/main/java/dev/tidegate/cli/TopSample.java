package dev.tidegate.cli;

/**
 * What a process showed at one moment. Immutable.
 *
 * @param nanos when, on the clock of {@link System#nanoTime}
 * @param status of the process
 * @param frontends a list
 * @param backends a list
 * @param connections a list; {@link Json#NOTHING} when nobody looks at it
 */
record TopSample(long nanos, Json status, Json frontends, Json backends, Json connections) {
    /**
     * Two moments, one after the other: between them there are rates.
     *
     * @param before the same as {@code now} at first: then all rates are zero
     */
    record Pair(TopSample before, TopSample now) {
        /** How much a counter rose, per second; 0 for one that fell, as after a restart. */
        double rate(long was, long is) {
            long nanos = now.nanos - before.nanos;
            return nanos <= 0 || is < was ? 0 : (is - was) * 1e9 / nanos;
        }
    }

    /** Asks for all of it. */
    static TopSample ask(AdminClient client, boolean withConnections) throws UnreachableException, RefusedException {
        return new TopSample(
                System.nanoTime(),
                client.get("/v1/status"),
                client.get("/v1/frontends"),
                client.get("/v1/backends"),
                withConnections ? client.get("/v1/connections?limit=1000") : Json.NOTHING);
    }
}
