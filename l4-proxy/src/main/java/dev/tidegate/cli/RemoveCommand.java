package dev.tidegate.cli;

import dev.tidegate.admin.command.Command.RemovePolicy;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidegate remove}. */
@Command(name = "remove", description = "Removes an endpoint from a backend, also one that the configuration has.")
final class RemoveCommand implements Callable<Integer> {
    @Parameters(paramLabel = "BACKEND/ENDPOINT", converter = EndpointName.Converter.class, description = "Which.")
    private EndpointName endpoint;

    @Option(
            names = "--policy",
            paramLabel = "drain|keep|cut",
            completionCandidates = LowerCase.RemovePolicies.class,
            description = "Its connections are retired (drain, the default), left alone (keep), or reset (cut).")
    private RemovePolicy policy;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        String target = endpoint.path() + (policy == null ? "" : "?policy=" + policy.word());
        return admin.talk(client -> {
            Json answer = client.ask(write.apply(AdminClient.Request.write("DELETE", target, Map.of())));
            admin.show(answer, AnswerText.of(answer, endpoint + ": removed"));
            return Exit.OK;
        });
    }
}
