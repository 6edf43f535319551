package dev.tidegate.bench;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** A kind of load, with the unit that its cost is told in. */
enum Scenario {
    /** Kept connections, one message of 64 bytes there and back at a time, as fast as the answers come. */
    SMALL("request", 64, 0),
    /** The same, but the 64 bytes are an HTTP/1 request, and an HTTP/1 response comes back. */
    HTTP1("request", 64, 0),
    /** Connect, one message there and back, FIN both ways, close; every connection a new one. */
    CONNECT("connection", 32, 64),
    /** The same, at a fixed rate whether the earlier ones have got their answers or not; so many in all. */
    ARRIVE("connection", 1_000, 64),
    /** The same, all of them in one moment. */
    BURST("connection", 4_000, 64),
    /** A few streams from the endpoint to the client, as fast as they go. */
    BULK("MiB", 4, 0),
    /** A few streams from the client to the endpoint, as fast as they go. */
    UPLOAD("MiB", 4, 0),
    /** Kept connections, messages of 64 bytes sent at a fixed rate whether answers come or not. */
    LATENCY("request", 64, 0),
    /** The same, while some of the connections are streams from the endpoint, as fast as they go. */
    MIXED("request", 64, 0);

    /** In {@link #MIXED}, one connection of so many is a stream. */
    static final int STREAM_OF = 32;

    private final String unit;
    private final int connections;
    private final int sources;

    Scenario(String unit, int connections, int sources) {
        this.unit = unit;
        this.connections = connections;
        this.sources = sources;
    }

    /** The scenario that {@code word} names; throws {@link IllegalArgumentException} saying which there are. */
    static Scenario named(String word) {
        for (Scenario scenario : values()) {
            if (scenario.word().equals(word)) {
                return scenario;
            }
        }
        throw new IllegalArgumentException("scenario \"" + word + "\" is not known; use some of "
                + Arrays.stream(values()).map(Scenario::word).collect(Collectors.joining(", ")));
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What the cost is told per: one of this many are in a result's count, see {@link #perUnit()}. */
    String unit() {
        return unit;
    }

    /** What makes the plural of {@link #unit()}. */
    String plural() {
        return unit.equals("MiB") ? "" : "s";
    }

    /** How many of a result's count make one unit: 2^20 bytes a MiB, else 1. */
    long perUnit() {
        return unit.equals("MiB") ? 1L << 20 : 1;
    }

    /** Whether messages come at a fixed rate, whatever the answers do: latency is what is asked, and there is no count to win. */
    boolean paced() {
        return this == LATENCY || this == MIXED;
    }

    /** Whether connections are opened one by one at their times, rather than all before the window. */
    boolean arrives() {
        return this == ARRIVE || this == BURST;
    }

    /** Connections open at once, unless told otherwise. */
    int connections() {
        return connections;
    }

    /** Source addresses that the connections come from, so that ports do not run out; 0: whatever the kernel takes. */
    int sources() {
        return sources;
    }
}
