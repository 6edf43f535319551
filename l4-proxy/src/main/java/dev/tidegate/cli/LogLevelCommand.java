package dev.tidegate.cli;

import dev.tidegate.admin.command.Command.LogLevel;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidegate log-level}. */
@Command(
        name = "log-level",
        description = "Shows how much is logged, or changes it until the configured value changes.")
final class LogLevelCommand implements Callable<Integer> {
    @Parameters(
            arity = "0..1",
            paramLabel = "LEVEL",
            completionCandidates = LowerCase.LogLevels.class,
            description = "error, warn, info, debug or trace; without it, the level is shown.")
    private LogLevel level;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            if (level == null) {
                Json shown = client.get("/v1/log-level");
                admin.show(shown, shown.text("level"));
                return Exit.OK;
            }
            Json answer = client.ask(
                    write.apply(AdminClient.Request.write("PUT", "/v1/log-level", Map.of("level", level.word()))));
            admin.show(answer, AnswerText.of(answer, level.word()));
            return Exit.OK;
        });
    }
}
