package dev.tidegate.cli;

import dev.tidegate.control.ConfigDiff;
import java.util.ArrayList;
import java.util.List;

/** What the API answers to a write, in words. Stateless. */
final class AnswerText {
    private AnswerText() {}

    /**
     * The answer in words, whichever of its shapes it has.
     *
     * @param otherwise said of an answer that shows nothing
     */
    static String of(Json answer, String otherwise) {
        List<String> lines = new ArrayList<>();
        if (answer.has("changes")) {
            lines.addAll(changes(answer));
        }
        Json operation = answer.has("operation") ? answer.at("operation") : answer;
        if (operation.has("kind") && operation.has("remaining")) {
            lines.add(operation(operation));
        } else if (answer.has("backend") && answer.has("weight")) {
            lines.add(endpoint(answer));
        }
        return lines.isEmpty() ? otherwise : String.join(System.lineSeparator(), lines);
    }

    /** An operation in one line. */
    static String operation(Json operation) {
        StringBuilder line = new StringBuilder();
        line.append(operation.text("kind"))
                .append(" of ")
                .append(operation.text("target"))
                .append(" (")
                .append(operation.text("id"))
                .append("): ")
                .append(operation.text("state"));
        if (operation.text("state").equals("running")) {
            line.append(", ").append(remaining(operation)).append(rate(operation));
            if (operation.at("deadline").isThere()) {
                line.append(", cut at ").append(Words.seconds(operation.text("deadline")));
            }
        } else if (operation.text("state").equals("done")) {
            line.append(", ").append(ended(operation));
        } else {
            line.append(", ").append(operation.number("remaining")).append(" stay");
        }
        return Words.printable(line.toString());
    }

    /** What of it is still to come. */
    static String remaining(Json operation) {
        StringBuilder text = new StringBuilder()
                .append(operation.number("remaining"))
                .append(" of ")
                .append(operation.number("total"))
                .append(" left");
        if (operation.at("oldest_age_ms").isThere()) {
            text.append(", oldest ").append(Words.age(operation.number("oldest_age_ms")));
        }
        if (operation.at("eta_ms").isThere()) {
            text.append(", about ")
                    .append(Words.age(operation.number("eta_ms")))
                    .append(" to go");
        }
        return text.toString();
    }

    /** How fast it goes, after a comma; nothing when it does not. */
    static String rate(Json operation) {
        double perSecond = operation.decimal("rate_per_second");
        return perSecond > 0 ? ", " + Words.rate(perSecond) + "/s" : "";
    }

    /** How its connections ended. */
    static String ended(Json operation) {
        return Words.plural(operation.number("total"), "connection") + ": " + operation.number("retired") + " retired, "
                + operation.number("cut") + " cut";
    }

    /** A diff, a change a line. */
    static List<String> changes(Json diff) {
        List<Json> changes = diff.at("changes").elements();
        if (changes.isEmpty()) {
            return List.of("no change; generation " + diff.number("generation"));
        }
        List<String> lines = new ArrayList<>();
        changes.forEach(change -> lines.add(change(change)));
        lines.add(Words.plural(changes.size(), "change") + "; generation " + diff.number("generation"));
        return lines;
    }

    private static String change(Json change) {
        String sign =
                switch (change.text("op")) {
                    case "add" -> "+ ";
                    case "remove" -> "- ";
                    default -> "~ ";
                };
        StringBuilder line = new StringBuilder(sign).append(change.text("path"));
        String from = ConfigDiff.brief(change.text("from"));
        String to = ConfigDiff.brief(change.text("to"));
        if (!from.isEmpty() && !to.isEmpty()) {
            line.append(": ").append(from).append(" -> ").append(to);
        } else if (!from.isEmpty() || !to.isEmpty()) {
            line.append(": ").append(from).append(to);
        }
        if (change.text("applies").equals("restart")) {
            line.append("  [at the next start]");
        }
        if (change.number("connections") > 0) {
            line.append("  [retires ")
                    .append(Words.plural(change.number("connections"), "connection"))
                    .append(']');
        }
        return Words.printable(line.toString());
    }

    private static String endpoint(Json endpoint) {
        Json weight = endpoint.at("weight");
        return Words.printable(endpoint.text("backend") + "/" + endpoint.text("name") + ": "
                + FitnessText.state(endpoint)
                + ", weight " + weight.number("effective")
                + (weight.at("runtime").isThere() ? " (configured: " + weight.number("configured") + ")" : "")
                + ", in-flight " + endpoint.number("in_flight"));
    }
}
