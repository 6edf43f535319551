package dev.tidegate.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tidegate connections}. */
@Command(name = "connections", description = "Lists open connections, the oldest first.")
final class ConnectionsCommand implements Callable<Integer> {
    @Option(names = "--frontend", paramLabel = "FRONTEND", description = "Those of this frontend only.")
    private String frontend;

    @Option(names = "--backend", paramLabel = "BACKEND", description = "Those of this backend only.")
    private String backend;

    @Option(
            names = "--endpoint",
            paramLabel = "[BACKEND/]ENDPOINT",
            description = "Those on this endpoint only, by its name.")
    private String endpoint;

    @Option(names = "--limit", paramLabel = "N", description = "The most to list, 1 to 1000.")
    private Integer limit;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            Json answer = client.get("/v1/connections" + AdminClient.query(parameters()));
            admin.show(answer, words(answer));
            return Exit.OK;
        });
    }

    private Map<String, Object> parameters() {
        Map<String, Object> parameters = new LinkedHashMap<>();
        boolean both = endpoint != null && backend == null && endpoint.matches("[^/]+/.+");
        EndpointName name = both ? new EndpointName.Converter().convert(endpoint) : null;
        parameters.put("frontend", frontend);
        parameters.put("backend", both ? name.backend() : backend);
        parameters.put("endpoint", both ? name.endpoint() : endpoint);
        parameters.put("limit", limit);
        return parameters;
    }

    private static String words(Json answer) {
        List<Json> connections = answer.items();
        if (connections.isEmpty()) {
            return "no connections";
        }
        Table table = new Table()
                .left("ID")
                .left("CLIENT")
                .left("FRONTEND")
                .left("ENDPOINT")
                .left("PROTOCOL")
                .left("STATE")
                .right("AGE")
                .right("IDLE")
                .right("RETIRES IN")
                .right("REQUESTS")
                .right("RECEIVED")
                .right("SENT");
        for (Json connection : connections) {
            table.row(
                    connection.text("id"),
                    connection.text("client"),
                    connection.text("frontend"),
                    endpoint(connection),
                    connection.text("protocol"),
                    state(connection),
                    Words.age(connection.number("age_ms")),
                    Words.age(connection.number("idle_ms")),
                    connection.at("soft_limit_in_ms").isThere()
                            ? Words.age(connection.number("soft_limit_in_ms"))
                            : "-",
                    connection.number("requests"),
                    Words.bytes(connection.number("bytes_received")),
                    Words.bytes(connection.number("bytes_sent")));
        }
        return table + System.lineSeparator() + connections.size() + " of "
                + Words.plural(answer.number("total"), "connection");
    }

    /** Where it is; a dash while nothing was picked. */
    static String endpoint(Json connection) {
        return connection.text("backend") + "/"
                + (connection.at("endpoint").isThere() ? connection.text("endpoint") : "-");
    }

    /** Its state, why it is retired, and whether its client knows. */
    static String state(Json connection) {
        return connection.text("state")
                + (connection.at("retiring").isThere() ? ", retiring: " + connection.text("retiring") : "")
                + (connection.is("told") ? ", told" : "");
    }
}
