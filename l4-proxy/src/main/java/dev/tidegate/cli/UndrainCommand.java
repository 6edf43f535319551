package dev.tidegate.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code tidegate undrain}. */
@Command(
        name = "undrain",
        description = "Takes a drain back: connections not yet told to leave stay, new ones come again.")
final class UndrainCommand implements Callable<Integer> {
    @Mixin
    private DrainTarget target;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        String path = target.path() + "/drain";
        return admin.talk(client -> {
            Json answer = client.ask(write.apply(AdminClient.Request.write("DELETE", path, Map.of())));
            admin.show(answer, AnswerText.of(answer, "undrained"));
            return Exit.OK;
        });
    }
}
