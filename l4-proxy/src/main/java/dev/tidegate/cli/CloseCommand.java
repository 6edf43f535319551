package dev.tidegate.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidegate close}. */
@Command(name = "close", description = "Ends one connection, at a moment that hurts nobody or at once.")
final class CloseCommand implements Callable<Integer> {
    @Parameters(paramLabel = "ID", description = "As `tidegate connections` shows it.")
    private String id;

    @Option(names = "--abort", description = "Now, by a reset.")
    private boolean abort;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        String target = "/v1/connections/" + AdminClient.segment(id) + "?mode=" + (abort ? "abort" : "graceful");
        return admin.talk(client -> {
            Json answer = client.ask(write.apply(AdminClient.Request.write("DELETE", target, Map.of())));
            admin.show(answer, AnswerText.of(answer, id + (abort ? ": reset" : ": retired")));
            return Exit.OK;
        });
    }
}
