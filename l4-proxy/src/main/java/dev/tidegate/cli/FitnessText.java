package dev.tidegate.cli;

import java.util.ArrayList;
import java.util.List;

/** Why endpoints are not pickable, and which backends are in panic, in words. Stateless. */
final class FitnessText {
    private FitnessText() {}

    /** An endpoint's state in one word or two: the administrative one, and for a ready one why it is not pickable. */
    static String state(Json endpoint) {
        String state = endpoint.text("state");
        if (!state.equals("ready") || endpoint.is("pickable")) {
            return state;
        }
        if (endpoint.at("health").isThere() && !endpoint.is("up")) {
            String word = endpoint.at("health").text("state");
            return word.equals("unknown") ? "unchecked" : word.replace('-', ' ');
        }
        if (endpoint.at("ejection").isThere()) {
            return "ejected";
        }
        if (breaker(endpoint).equals("open")) {
            return "breaker open";
        }
        return otherwise(endpoint);
    }

    private static String otherwise(Json endpoint) {
        if (endpoint.at("weight").number("effective") == 0) {
            return "weight 0";
        }
        if (endpoint.at("addresses").elements().isEmpty()) {
            return "unresolved";
        }
        if (isFull(endpoint)) {
            return "full";
        }
        return breaker(endpoint).equals("half-open") ? "on trial" : "not pickable";
    }

    /** Its limit is smaller while its share grows, but one in any case. */
    private static boolean isFull(Json endpoint) {
        double limit = endpoint.number("max_connections") * endpoint.decimal("share") / 100;
        return endpoint.at("max_connections").isThere() && endpoint.number("in_flight") >= Math.max(1, (long) limit);
    }

    private static String breaker(Json endpoint) {
        return endpoint.at("breaker").isThere() ? endpoint.at("breaker").text("state") : "";
    }

    /** All that there is to say of endpoints that are not pickable or have a slow start, and of backends, a line each. */
    static List<String> lines(List<Json> backends) {
        List<String> lines = new ArrayList<>(panics(backends));
        for (Json backend : backends) {
            for (Json endpoint : backend.at("endpoints").elements()) {
                String name = backend.text("name") + "/" + endpoint.text("name");
                String why = why(endpoint);
                if (!why.isEmpty()) {
                    lines.add(Words.printable(name + " is not pickable: " + why));
                } else if (endpoint.at("share").isThere() && endpoint.decimal("share") < 100) {
                    lines.add(Words.printable(
                            name + " is in slow start: " + Words.percent(endpoint.decimal("share")) + " of its share"));
                }
            }
        }
        return lines;
    }

    /** The whole reason; nothing when it is pickable, or when the state's word says it all. */
    static String why(Json endpoint) {
        String reason = endpoint.at("reason").isThere() ? Words.allSeconds(endpoint.text("reason")) : "";
        if (reason.isEmpty() || reason.equals(state(endpoint))) {
            return "";
        }
        Json health = endpoint.at("health");
        if (!health.isThere() || endpoint.is("up")) {
            return reason;
        }
        long heldMs = health.number("held_ms");
        return reason + " (since " + Words.seconds(health.text("since"))
                + (heldMs > 0 ? ", held down for another " + Words.age(heldMs) + " because it flaps" : "") + ")";
    }

    /** A line for each backend in panic, or with no endpoint checked yet. */
    static List<String> panics(List<Json> backends) {
        List<String> lines = new ArrayList<>();
        for (Json backend : backends) {
            String name = "backend " + backend.text("name");
            if (backend.is("panic")) {
                lines.add(Words.printable(name + " is in panic: " + fit(backend) + " endpoints fit, connections "
                        + (backend.is("spreading") ? "are spread over all" : "go to fit ones alone")));
            } else if (backend.is("spreading")) {
                lines.add(Words.printable(name + ": no endpoint is checked yet, connections are spread over all"));
            }
        }
        return lines;
    }

    /** How many are fit, of those that count: ready, resolved, with a weight above 0, and checked if checks there are. */
    private static String fit(Json backend) {
        List<Json> counted = backend.at("endpoints").elements().stream()
                .filter(FitnessText::counts)
                .toList();
        long fit = counted.stream()
                .filter(endpoint -> endpoint.is("up")
                        && !endpoint.at("ejection").isThere()
                        && !breaker(endpoint).equals("open"))
                .count();
        return fit + " of " + counted.size();
    }

    private static boolean counts(Json endpoint) {
        Json health = endpoint.at("health");
        return endpoint.text("state").equals("ready")
                && endpoint.at("weight").number("effective") > 0
                && !endpoint.at("addresses").elements().isEmpty()
                && !(health.isThere() && health.text("state").equals("unknown"));
    }
}
