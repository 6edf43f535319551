package dev.tidegate.bench;

import java.util.Locale;

/**
 * One kind of load of a comparison: a scenario, and how much of it. Immutable; equal when its words are.
 *
 * @param word how it is asked for and what it is called: {@code small}, {@code bulk@8}, {@code latency@50}
 * @param connections open at once
 * @param share of what the slowest subject can do, in percent, where messages come at a fixed rate; else 0
 */
record Trial(String word, Scenario scenario, int connections, int share) {
    private static final int DEFAULT_SHARE = 50;

    /** Reads {@code SCENARIO} or {@code SCENARIO@NUMBER}; throws {@link IllegalArgumentException} saying what would be right. */
    static Trial named(String word) {
        int at = word.indexOf('@');
        Scenario scenario = Scenario.named(at < 0 ? word : word.substring(0, at));
        if (scenario.paced()) {
            int share = at < 0 ? DEFAULT_SHARE : number(word, at, "percent of what the slowest can do", 1, 95);
            return new Trial(scenario.word() + "@" + share, scenario, scenario.connections(), share);
        }
        int connections = at < 0 ? scenario.connections() : number(word, at, "connections", 1, 60_000);
        return new Trial(word, scenario, connections, 0);
    }

    private static int number(String word, int at, String what, int least, int most) {
        String text = word.substring(at + 1);
        if (!text.matches("\\d{1,5}") || Integer.parseInt(text) < least || Integer.parseInt(text) > most) {
            throw new IllegalArgumentException("\"" + word + "\": behind @ stands a number of " + what + ", " + least
                    + " to " + most + ", such as " + word.substring(0, at) + "@" + Math.min(64, most));
        }
        return Integer.parseInt(text);
    }

    Trial withConnections(int number) {
        return number == 0 ? this : new Trial(word, scenario, number, share);
    }

    /** What is done, in a few words. */
    String title() {
        String what =
                switch (scenario) {
                    case SMALL -> "Small request: 64 bytes there and back, %,d kept connections, closed loop";
                    case HTTP1 ->
                        "HTTP/1: a request and a response of 64 bytes each, %,d kept connections, closed loop";
                    case CONNECT -> "Connection: connect, 64 bytes there and back, FIN both ways, %,d at once";
                    case ARRIVE ->
                        "Arrivals: connect, 64 bytes there and back, FIN both ways, %,d in all at a fixed rate";
                    case BURST -> "Burst: %,d connects in one moment, 64 bytes there and back on each, FIN both ways";
                    case BULK -> "Bulk: %,d streams from the endpoint to the client";
                    case UPLOAD -> "Bulk: %,d streams from the client to the endpoint";
                    case LATENCY -> "Latency of 64 bytes, %,d kept connections";
                    case MIXED ->
                        "Mixed: latency of 64 bytes, %,d kept connections, one in 32 of them a stream to the client";
                };
        return String.format(Locale.ROOT, what, connections);
    }
}
