package dev.tidegate.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidegate disable}. */
@Command(name = "disable", description = "Gives an endpoint no new connections until it is enabled; those it has stay.")
final class DisableCommand implements Callable<Integer> {
    @Parameters(paramLabel = "BACKEND/ENDPOINT", converter = EndpointName.Converter.class, description = "Which.")
    private EndpointName endpoint;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            Json answer =
                    client.ask(write.apply(AdminClient.Request.write("POST", endpoint.path() + "/disable", Map.of())));
            admin.show(answer, AnswerText.of(answer, endpoint + ": disabled"));
            return Exit.OK;
        });
    }
}
