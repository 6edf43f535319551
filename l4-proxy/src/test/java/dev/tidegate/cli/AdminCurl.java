package dev.tidegate.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An operator's script: curl at the UNIX socket of an admin API. Safe for use by any thread. */
final class AdminCurl {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final int TOO_MANY = 429;

    private final Tool curl = Tool.require("curl");
    private final Path socket;

    AdminCurl(Path socket) {
        this.socket = socket;
    }

    /**
     * What came back.
     *
     * @param headers by their names in lower case
     */
    record Answer(int status, Map<String, String> headers, String body) {
        JsonNode json() {
            try {
                return JSON.readTree(body);
            } catch (IOException e) {
                throw new UncheckedIOException(toString(), e);
            }
        }

        /** The same, when it has that status. */
        Answer expect(int wanted) {
            if (status != wanted) {
                throw new AssertionError("expected " + wanted + ", got " + this);
            }
            return this;
        }
    }

    Answer get(String path) {
        return call("GET", path, null);
    }

    Answer post(String path, String json) {
        return call("POST", path, json);
    }

    /** The body of a GET that must work, as JSON. */
    JsonNode look(String path) {
        return get(path).expect(200).json();
    }

    /**
     * Any call; one that comes too soon after others is made again.
     *
     * @param json the body; null for none
     */
    Answer call(String method, String path, String json, String... headers) {
        Answer[] answer = new Answer[1];
        Await.until("curl may ask for " + path, BOUND, () -> {
            answer[0] = callOnce(method, path, json, headers);
            return answer[0].status() != TOO_MANY;
        });
        return answer[0];
    }

    private Answer callOnce(String method, String path, String json, String... headers) {
        List<String> arguments = new ArrayList<>(
                List.of("-sS", "-i", "--unix-socket", socket.toString(), "-X", method, "http://localhost" + path));
        for (String header : headers) {
            arguments.addAll(List.of("-H", header));
        }
        if (json != null) {
            arguments.addAll(List.of("-H", "Content-Type: application/json", "--data-binary", json));
        }
        Tool.Result result = curl.run(BOUND, arguments.toArray(String[]::new));
        if (result.exit() != 0) {
            throw new AssertionError("curl " + arguments + " failed: " + result);
        }
        return parse(result.stdout());
    }

    private static Answer parse(String text) {
        int end = text.indexOf("\r\n\r\n");
        Map<String, String> headers = new TreeMap<>();
        for (String line : text.substring(0, end).split("\r\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                headers.put(
                        line.substring(0, colon).toLowerCase(Locale.ROOT),
                        line.substring(colon + 1).strip());
            }
        }
        return new Answer(Integer.parseInt(text.substring(9, 12)), headers, text.substring(end + 4));
    }

    // ---- what is asked for again and again

    /** An endpoint of backend {@code back}. */
    JsonNode endpoint(String name) {
        return look("/v1/backends/back/endpoints/" + name);
    }

    /** How an operation stands. */
    JsonNode operation(String id) {
        return look("/v1/operations/" + id);
    }

    long generation() {
        return look("/v1/status").get("generation").asLong();
    }

    /** {@code tidegate_endpoint_in_flight} of each endpoint, by name, as one scrape has it. */
    Map<String, Long> inFlight() {
        Map<String, Long> gauges = new TreeMap<>();
        Matcher each = Pattern.compile("(?m)^tidegate_endpoint_in_flight\\{.*endpoint=\"([^\"]+)\".*} (\\S+)$")
                .matcher(get("/metrics").expect(200).body());
        while (each.find()) {
            gauges.put(each.group(1), (long) Double.parseDouble(each.group(2)));
        }
        return gauges;
    }
}
