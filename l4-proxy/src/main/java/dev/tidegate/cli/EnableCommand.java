package dev.tidegate.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidegate enable}. */
@Command(name = "enable", description = "Takes a disable back.")
final class EnableCommand implements Callable<Integer> {
    @Parameters(paramLabel = "BACKEND/ENDPOINT", converter = EndpointName.Converter.class, description = "Which.")
    private EndpointName endpoint;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            Json answer = client.ask(
                    write.apply(AdminClient.Request.write("DELETE", endpoint.path() + "/disable", Map.of())));
            admin.show(answer, AnswerText.of(answer, endpoint + ": enabled"));
            return Exit.OK;
        });
    }
}
