package dev.tidegate.simulation;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

/** What is drawn once for a run, and the configuration that it makes. */
record Settings(
        String balance,
        int workers,
        int maxConnections,
        int endpointMax,
        Duration maxAge,
        int jitterPercent,
        Duration grace,
        int maxRequests,
        String protocol,
        boolean outlier,
        boolean breaker,
        boolean slowStart,
        String onDown,
        int panicPercent,
        int clients) {
    static final int FRONT_PORT = 7_000;
    static final int FIRST_ENDPOINT_PORT = 9_001;

    static final Duration SHUTDOWN = Duration.ofSeconds(3);
    static final Duration QUIET = Duration.ofMillis(250);
    static final Duration LINGER = Duration.ofMillis(500);

    static Settings draw(RandomGenerator random) {
        return new Settings(
                List.of("round-robin", "random", "least-connections", "power-of-two")
                        .get(random.nextInt(4)),
                1 + random.nextInt(3),
                10 + random.nextInt(30),
                random.nextInt(3) == 0 ? 3 + random.nextInt(10) : 1_000,
                Duration.ofMillis(1_000 + random.nextInt(2_500)),
                random.nextInt(101),
                Duration.ofMillis(1_000 + random.nextInt(1_500)),
                random.nextInt(3) == 0 ? 1 + random.nextInt(6) : 1_000_000,
                List.of("tcp", "auto", "auto", "auto", "http1", "http2").get(random.nextInt(6)),
                random.nextBoolean(),
                random.nextBoolean(),
                random.nextBoolean(),
                List.of("keep", "drain", "cut").get(random.nextInt(3)),
                random.nextBoolean() ? 0 : 50,
                15 + random.nextInt(40));
    }

    /** The configuration with so many endpoints, the first of which has that weight. */
    Config config(int endpoints, int weightOfFirst) {
        StringBuilder text = new StringBuilder();
        text.append("process: {shutdown: {deadline: ")
                .append(SHUTDOWN.toMillis())
                .append("ms, spread: 500ms}}\n")
                .append("frontends:\n  - {name: front, listen: \"127.0.0.1:")
                .append(FRONT_PORT)
                .append("\", backend: back, protocol: ")
                .append(protocol)
                .append(", lifetime: {max-age: ")
                .append(maxAge.toMillis())
                .append("ms, jitter: ")
                .append(jitterPercent)
                .append("%, grace: ")
                .append(grace.toMillis())
                .append("ms, max-requests: ")
                .append(maxRequests)
                .append(", quiet: ")
                .append(QUIET.toMillis())
                .append("ms, linger: ")
                .append(LINGER.toMillis())
                .append("ms}}\n")
                .append("backends:\n  - name: back\n    balance: ")
                .append(balance)
                .append("\n    connect: {timeout: 100ms, attempts: 3, deadline: 500ms}\n")
                .append(
                        "    health: {type: tcp, interval: 500ms, fast-interval: 100ms, timeout: 200ms, fall: 2, on-down: ")
                .append(onDown)
                .append("}\n    panic: {threshold: ")
                .append(panicPercent)
                .append("%}\n    rebalance: {on-join: true, spread: 500ms}\n    outlier: ")
                .append(outlier ? "{consecutive-failures: 3, first-byte: 300ms, ejection: 1s}" : "off")
                .append("\n");
        if (breaker) {
            text.append("    breaker: {consecutive-failures: 4, open: 1s, trials: 1}\n");
        }
        if (slowStart) {
            text.append("    slow-start: {window: 2s}\n");
        }
        text.append("    endpoints:\n");
        for (int i = 0; i < endpoints; i++) {
            text.append("      - {name: e")
                    .append(i)
                    .append(", address: \"127.0.0.1:")
                    .append(FIRST_ENDPOINT_PORT + i)
                    .append("\", weight: ")
                    .append(i == 0 ? weightOfFirst : 1)
                    .append(", max-connections: ")
                    .append(endpointMax)
                    .append("}\n");
        }
        return read(text.toString());
    }

    private static Config read(String text) {
        ConfigResult read =
                ConfigReader.readText("simulation.yaml", text.getBytes(StandardCharsets.UTF_8), name -> null);
        return read.config()
                .orElseThrow(
                        () -> new AssertionError("the configuration is not valid: " + read.problems() + "\n" + text));
    }
}
