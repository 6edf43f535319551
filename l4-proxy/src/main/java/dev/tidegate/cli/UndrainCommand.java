package dev.tidegate.cli;

import java.util.Map;
import java.util.Set;
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
            boolean bare = Set.of("generation").containsAll(answer.members().keySet());
            // In words, an endpoint alone: it may be disabled, or its backend may still be drained.
            Json shown = bare && (admin.json() || target.isEndpoint()) ? asItIs(client, answer) : answer;
            admin.show(shown, AnswerText.of(shown, "undrained"));
            return Exit.OK;
        });
    }

    /** What was undrained, as {@code enable} answers it too; the other when it cannot be seen: it is undrained all the same. */
    private Json asItIs(AdminClient client, Json otherwise) {
        try {
            return client.get(target.resource());
        } catch (UnreachableException | RefusedException e) {
            admin.err().println("tidegate: undrained, but how it is now cannot be told: " + e.getMessage());
            return otherwise;
        }
    }
}
