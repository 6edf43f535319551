package dev.tidegate.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The state of a process in words. Stateless. */
final class StatusText {
    private StatusText() {}

    /** @param status as {@code /v1/status} has it, with the lists {@code frontends} and {@code backends} beside */
    static String of(Json status) {
        List<String> lines = new ArrayList<>();
        lines.add("tidegate " + status.text("version") + ", pid " + status.number("pid") + ": " + status.text("state")
                + ", up " + Words.age(status.number("uptime_ms")));
        lines.add("config       " + (status.at("config").isThere() ? status.text("config") : "none") + ", generation "
                + status.number("generation") + reloads(status));
        lines.add("transport    " + status.text("transport") + " (" + status.text("transport_reason") + ")");
        lines.add("connections  " + status.number("connections") + " of " + status.number("max_connections")
                + ", on workers " + workers(status));
        lines.add("log level    " + status.text("log_level"));
        lines.replaceAll(Words::printable);
        lines.add("");
        lines.addAll(frontends(status.at("frontends").items()).lines());
        lines.add("");
        lines.addAll(endpoints(status.at("backends").items()).lines());
        List<String> unfit = FitnessText.lines(status.at("backends").items());
        if (!unfit.isEmpty()) {
            lines.add("");
            lines.addAll(unfit);
        }
        List<Json> operations = status.at("operations").elements();
        if (!operations.isEmpty()) {
            lines.add("");
            operations.forEach(operation -> lines.add(AnswerText.operation(operation)));
        }
        return String.join(System.lineSeparator(), lines);
    }

    private static String reloads(Json status) {
        Map<String, Json> reloads = status.at("reloads").members();
        return reloads.isEmpty()
                ? ""
                : reloads.entrySet().stream()
                        .map(entry -> entry.getValue().number() + " " + entry.getKey())
                        .collect(Collectors.joining(", ", "; reloads: ", ""));
    }

    private static String workers(Json status) {
        return status.at("workers").elements().stream()
                .map(worker -> String.valueOf(worker.number("connections")))
                .collect(Collectors.joining(" + "));
    }

    private static Table frontends(List<Json> frontends) {
        Table table = new Table()
                .left("FRONTEND")
                .left("STATE")
                .left("LISTENS")
                .left("BACKEND")
                .right("CONNECTIONS")
                .right("ACCEPTED")
                .right("RECEIVED")
                .right("SENT");
        for (Json frontend : frontends) {
            table.row(
                    frontend.text("name"),
                    frontend.text("state"),
                    listens(frontend),
                    frontend.text("backend"),
                    frontend.number("connections"),
                    frontend.number("accepted"),
                    Words.bytes(frontend.number("received_bytes")),
                    Words.bytes(frontend.number("sent_bytes")));
        }
        return table;
    }

    private static String listens(Json frontend) {
        String bound = frontend.at("listeners").elements().stream()
                .filter(listener -> listener.at("bound").isThere())
                .map(listener -> listener.text("bound"))
                .collect(Collectors.joining(", "));
        return bound.isEmpty() ? "-" : bound;
    }

    private static Table endpoints(List<Json> backends) {
        Table table = new Table()
                .left("ENDPOINT")
                .left("ADDRESS")
                .left("STATE")
                .right("IN-FLIGHT")
                .right("WEIGHT")
                .right("PICKS")
                .right("FAILED");
        for (Json backend : backends) {
            for (Json endpoint : backend.at("endpoints").elements()) {
                table.row(
                        backend.text("name") + "/" + endpoint.text("name"),
                        endpoint.text("address"),
                        FitnessText.state(endpoint),
                        endpoint.number("in_flight"),
                        endpoint.at("weight").number("effective"),
                        endpoint.number("picks"),
                        failed(endpoint));
            }
        }
        return table;
    }

    /** Connects that did not come about. */
    static long failed(Json endpoint) {
        return endpoint.at("connects").members().entrySet().stream()
                .filter(entry -> !entry.getKey().equals("ok") && !entry.getKey().equals("cancelled"))
                .mapToLong(entry -> entry.getValue().number())
                .sum();
    }
}
