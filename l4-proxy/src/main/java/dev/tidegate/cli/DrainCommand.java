package dev.tidegate.cli;

import dev.tidegate.admin.command.Command.DrainMode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tidegate drain}. */
@Command(
        name = "drain",
        description = "Gives what is named no new connections from now on, and lets those it has leave.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  tidegate drain web/a --wait                 nothing is cut; waits until the last has left",
            "  tidegate drain web/a --deadline 10m --spread 2m",
            "  tidegate drain web --mode cut --spread 30s",
            "  tidegate drain --frontend edge --deadline 5m"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:it has begun; with --wait, it is done",
            "1:refused; with --wait, it was cancelled",
            "2:wrong usage",
            "69:the running process cannot be reached, or does not answer",
            "130:ctrl-C ended the wait; the drain goes on"
        })
final class DrainCommand implements Callable<Integer> {
    @Mixin
    private DrainTarget target;

    @Option(
            names = "--deadline",
            paramLabel = "DURATION",
            converter = DemoCommand.DurationConverter.class,
            description = "What has not left by then is cut, as in 10m (default: nothing is cut).")
    private Duration deadline;

    @Option(
            names = "--spread",
            paramLabel = "DURATION",
            converter = DemoCommand.DurationConverter.class,
            description = "Over how long connections begin to leave, as in 2m.")
    private Duration spread;

    @Option(
            names = "--mode",
            paramLabel = "wait|graceful|cut",
            completionCandidates = LowerCase.DrainModes.class,
            description = "wait: they leave by themselves; graceful: they are retired; cut: they are reset, paced"
                    + " (default: wait without deadline and spread, else graceful).")
    private DrainMode mode;

    @Option(names = "--wait", description = "Shows the progress until it is done. Ctrl-C ends the wait, not the drain.")
    private boolean wait;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        Map<String, String> body = new LinkedHashMap<>();
        if (deadline != null) {
            body.put("deadline", Words.duration(deadline));
        }
        if (spread != null) {
            body.put("spread", Words.duration(spread));
        }
        if (mode != null) {
            body.put("mode", mode.word());
        }
        String path = target.path() + "/drain";
        return admin.talk(client -> {
            Json answer = client.ask(write.apply(AdminClient.Request.write("POST", path, body)));
            if (wait && answer.has("kind")) {
                return new DrainWait(admin, client).until(answer);
            }
            admin.show(answer, AnswerText.of(answer, "draining"));
            return Exit.OK;
        });
    }
}
