package dev.tidegate.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code tidegate reload}. */
@Command(
        name = "reload",
        description = "Has the running process read its configuration again: all of it is applied, or nothing.")
final class ReloadCommand implements Callable<Integer> {
    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            Json answer = client.ask(write.apply(AdminClient.Request.write("POST", "/v1/reload", Map.of())));
            admin.show(answer, AnswerText.of(answer, write.dryRun() ? "valid" : "reloaded"));
            return Exit.OK;
        });
    }
}
