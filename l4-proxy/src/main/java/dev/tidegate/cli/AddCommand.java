package dev.tidegate.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidegate add}. */
@Command(name = "add", description = "Adds an endpoint to a backend, beside the configured ones.")
final class AddCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "BACKEND/ENDPOINT",
            converter = EndpointName.Converter.class,
            description = "The backend, and a name that is new in it.")
    private EndpointName endpoint;

    @Parameters(paramLabel = "ADDRESS", description = "HOST:PORT, as the configuration has it.")
    private String address;

    @Option(names = "--weight", paramLabel = "N", description = "0 to 1000 (default: 1).")
    private Integer weight;

    @Option(names = "--max-connections", paramLabel = "N", description = "The most at a time (default: no limit).")
    private Integer maxConnections;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("name", endpoint.endpoint());
        body.put("address", address);
        if (weight != null) {
            body.put("weight", weight);
        }
        if (maxConnections != null) {
            body.put("max_connections", maxConnections);
        }
        String target = "/v1/backends/" + AdminClient.segment(endpoint.backend()) + "/endpoints";
        return admin.talk(client -> {
            Json answer = client.ask(write.apply(AdminClient.Request.write("POST", target, body)));
            admin.show(answer, AnswerText.of(answer, endpoint + ": added"));
            return Exit.OK;
        });
    }
}
