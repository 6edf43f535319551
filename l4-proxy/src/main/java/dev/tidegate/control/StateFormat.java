package dev.tidegate.control;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidegate.config.EndpointAddress;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.LogConfig;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Runtime state as bytes: a line of JSON with the format's number, the SHA-256 of the body's bytes, and the body. A state
 * has exactly one text, so that reading takes no other: whatever was changed or cut off is noticed. Stateless; any
 * thread.
 */
final class StateFormat {
    /** What this version writes, and all that it reads. */
    static final int FORMAT = 1;

    /** Ten times what ten thousand changed endpoints take. */
    static final int BYTES_MAX = 16 << 20;

    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private StateFormat() {}

    /** The bytes are no runtime state; the message says why, as the end of a sentence about the file. */
    static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1;

        Unreadable(String message) {
            super(message);
        }
    }

    // ---- writing

    /**
     * The state's text.
     *
     * @throws IllegalArgumentException if it is larger than would be read again
     */
    static byte[] encode(RuntimeState state) {
        byte[] text = text(body(state));
        if (text.length > BYTES_MAX) {
            throw new IllegalArgumentException(
                    "runtime state of " + text.length + " bytes is larger than " + BYTES_MAX + " bytes");
        }
        return text;
    }

    private static byte[] text(JsonNode body) {
        ObjectNode root = JSON.createObjectNode();
        root.put("format", FORMAT);
        root.put("sha256", sha256(bytes(body)));
        root.set("body", body);
        byte[] line = bytes(root);
        byte[] text = Arrays.copyOf(line, line.length + 1);
        text[line.length] = '\n';
        return text;
    }

    private static byte[] bytes(JsonNode node) {
        try {
            return JSON.writeValueAsBytes(node);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("runtime state is a plain tree and can always be written", e);
        }
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static ObjectNode body(RuntimeState state) {
        ObjectNode body = JSON.createObjectNode();
        ArrayNode endpoints = body.putArray("endpoints");
        state.endpoints().forEach((id, change) -> {
            ObjectNode endpoint = put(endpoints.addObject(), id);
            endpoint.put("draining", change.draining()).put("disabled", change.disabled());
            change.weight()
                    .ifPresent(weight -> endpoint.putObject("weight")
                            .put("value", weight.value())
                            .put("over", weight.over()));
        });
        ArrayNode added = body.putArray("added");
        state.added().forEach((id, config) -> {
            ObjectNode endpoint = put(added.addObject(), id);
            endpoint.put("name", config.name()).put("weight", config.weight());
            config.maxConnections().ifPresent(max -> endpoint.put("max-connections", max));
        });
        ArrayNode removed = body.putArray("removed");
        state.removed().forEach(id -> put(removed.addObject(), id));
        state.drainingBackends().forEach(body.putArray("draining-backends")::add);
        state.drainingFrontends().forEach(body.putArray("draining-frontends")::add);
        state.logLevel()
                .ifPresent(level -> body.putObject("log-level")
                        .put("value", word(level.value()))
                        .put("over", word(level.over())));
        return body;
    }

    private static ObjectNode put(ObjectNode object, EndpointId id) {
        return object.put("backend", id.backend()).put("address", id.address());
    }

    private static String word(LogConfig.Level level) {
        return level.name().toLowerCase(Locale.ROOT);
    }

    // ---- reading

    /**
     * The state that has this text.
     *
     * @throws Unreadable if none has
     */
    static RuntimeState decode(byte[] text) throws Unreadable {
        JsonNode root;
        try {
            root = JSON.readTree(text);
        } catch (IOException e) {
            throw new Unreadable("is torn or no JSON");
        }
        JsonNode format = root.path("format");
        if (!format.isInt()) {
            throw new Unreadable("says no format");
        }
        if (format.intValue() != FORMAT) {
            throw new Unreadable("has format " + format.intValue() + ", this version reads format " + FORMAT);
        }
        JsonNode body = root.path("body");
        if (!body.isObject() || !Arrays.equals(text, text(body))) {
            throw new Unreadable("does not fit its checksum");
        }
        try {
            return state(body);
        } catch (IllegalArgumentException e) {
            throw new Unreadable("says what cannot be: " + e.getMessage());
        }
    }

    private static RuntimeState state(JsonNode body) throws Unreadable {
        Map<EndpointId, RuntimeState.Changed> endpoints = new TreeMap<>();
        for (JsonNode each : list(body, "endpoints")) {
            endpoints.put(id(each), changed(each));
        }
        Map<EndpointId, EndpointConfig> added = new TreeMap<>();
        for (JsonNode each : list(body, "added")) {
            added.put(id(each), endpoint(each));
        }
        Set<EndpointId> removed = new TreeSet<>();
        for (JsonNode each : list(body, "removed")) {
            removed.add(id(each));
        }
        return new RuntimeState(
                endpoints,
                added,
                removed,
                names(body, "draining-backends"),
                names(body, "draining-frontends"),
                logLevel(body));
    }

    private static EndpointId id(JsonNode endpoint) throws Unreadable {
        return new EndpointId(text(endpoint, "backend"), text(endpoint, "address"));
    }

    private static RuntimeState.Changed changed(JsonNode endpoint) throws Unreadable {
        Optional<RuntimeState.Weight> weight = Optional.empty();
        if (endpoint.has("weight")) {
            JsonNode set = endpoint.get("weight");
            weight = Optional.of(new RuntimeState.Weight(number(set, "value"), number(set, "over")));
        }
        return new RuntimeState.Changed(truth(endpoint, "draining"), truth(endpoint, "disabled"), weight);
    }

    private static EndpointConfig endpoint(JsonNode endpoint) throws Unreadable {
        return new EndpointConfig(
                text(endpoint, "name"),
                EndpointAddress.parse(text(endpoint, "address")),
                number(endpoint, "weight"),
                endpoint.has("max-connections")
                        ? OptionalInt.of(number(endpoint, "max-connections"))
                        : OptionalInt.empty());
    }

    private static Set<String> names(JsonNode body, String key) throws Unreadable {
        Set<String> names = new TreeSet<>();
        for (JsonNode each : list(body, key)) {
            if (!each.isTextual()) {
                throw new Unreadable("has " + each + " for a name in " + key);
            }
            names.add(each.textValue());
        }
        return names;
    }

    private static Optional<RuntimeState.LogLevel> logLevel(JsonNode body) throws Unreadable {
        if (!body.has("log-level")) {
            return Optional.empty();
        }
        JsonNode set = body.get("log-level");
        return Optional.of(new RuntimeState.LogLevel(level(set, "value"), level(set, "over")));
    }

    private static LogConfig.Level level(JsonNode set, String key) throws Unreadable {
        return LogConfig.Level.valueOf(text(set, key).toUpperCase(Locale.ROOT));
    }

    private static JsonNode list(JsonNode body, String key) throws Unreadable {
        JsonNode list = body.path(key);
        if (!list.isArray()) {
            throw new Unreadable("has no list " + key);
        }
        return list;
    }

    private static String text(JsonNode object, String key) throws Unreadable {
        JsonNode text = object.path(key);
        if (!text.isTextual()) {
            throw new Unreadable("has no text " + key + " in " + object);
        }
        return text.textValue();
    }

    private static int number(JsonNode object, String key) throws Unreadable {
        JsonNode number = object.path(key);
        if (!number.isInt()) {
            throw new Unreadable("has no number " + key + " in " + object);
        }
        return number.intValue();
    }

    private static boolean truth(JsonNode object, String key) throws Unreadable {
        JsonNode truth = object.path(key);
        if (!truth.isBoolean()) {
            throw new Unreadable("has no truth value " + key + " in " + object);
        }
        return truth.booleanValue();
    }
}
