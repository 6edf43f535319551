package dev.tidegate.bench;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One run of load: what, where to, how much, for how long. Immutable.
 *
 * @param pid whose CPU time is read at both edges of the measured window; 0: nobody's
 * @param rate messages a second where they come at a fixed rate, connections a second of {@link Scenario#ARRIVE}
 */
record LoadSpec(
        Scenario scenario,
        InetSocketAddress target,
        int connections,
        int sources,
        Duration settle,
        Duration window,
        long pid,
        int rate) {
    private static final Duration SETTLE = Duration.ofMillis(300);

    LoadSpec {
        if (connections < 1) {
            throw new IllegalArgumentException("connections=" + connections + ": at least 1 is needed");
        }
        if ((scenario.paced() || scenario == Scenario.ARRIVE) && rate < 1) {
            throw new IllegalArgumentException(
                    "rate=" + rate + ": " + scenario.word() + " needs a rate of at least 1 a second");
        }
    }

    static LoadSpec of(Scenario scenario, InetSocketAddress target, Duration window) {
        return new LoadSpec(
                scenario, target, scenario.connections(), scenario.sources(), SETTLE, window, 0, /* rate= */ 1000);
    }

    LoadSpec withPid(long newPid) {
        return new LoadSpec(scenario, target, connections, sources, settle, window, newPid, rate);
    }

    LoadSpec withRate(int newRate) {
        return new LoadSpec(scenario, target, connections, sources, settle, window, pid, newRate);
    }

    /** The load goes on for so long before the window begins. */
    LoadSpec withSettle(Duration newSettle) {
        return new LoadSpec(scenario, target, connections, sources, newSettle, window, pid, rate);
    }

    LoadSpec withConnections(int newConnections) {
        return new LoadSpec(scenario, target, newConnections, sources, settle, window, pid, rate);
    }

    /** The line that {@link #parse} reads. */
    String toLine() {
        return String.join(
                " ",
                scenario.word(),
                "target=" + HostPort.format(target),
                "connections=" + connections,
                "sources=" + sources,
                "settle-ms=" + settle.toMillis(),
                "window-ms=" + window.toMillis(),
                "pid=" + pid,
                "rate=" + rate);
    }

    /** Reads {@code SCENARIO target=HOST:PORT key=number ...}; throws {@link IllegalArgumentException}. */
    static LoadSpec parse(List<String> words) {
        Scenario scenario = Scenario.named(words.get(0));
        Map<String, String> values = keyValues(words.subList(1, words.size()));
        String target = values.remove("target");
        if (target == null) {
            throw new IllegalArgumentException("target is missing; write target=HOST:PORT");
        }
        LoadSpec spec = new LoadSpec(
                scenario,
                HostPort.parse(target),
                (int) number(values, "connections", scenario.connections()),
                (int) number(values, "sources", scenario.sources()),
                Duration.ofMillis(number(values, "settle-ms", SETTLE.toMillis())),
                Duration.ofMillis(number(values, "window-ms", 4_000)),
                number(values, "pid", 0),
                (int) number(values, "rate", 1_000));
        if (!values.isEmpty()) {
            throw new IllegalArgumentException("unknown keys " + values.keySet());
        }
        return spec;
    }

    static Map<String, String> keyValues(List<String> words) {
        Map<String, String> values = new HashMap<>();
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("\"" + word + "\" is not key=value");
            }
            values.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return values;
    }

    private static long number(Map<String, String> values, String key, long otherwise) {
        String value = values.remove(key);
        try {
            return value == null ? otherwise : Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + "=" + value + ": a whole number is needed", e);
        }
    }
}
