package dev.tidegate.cli;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidegate rebalance}. */
@Command(name = "rebalance", description = "Retires what each endpoint of a backend has above its fair share.")
final class RebalanceCommand implements Callable<Integer> {
    @Parameters(paramLabel = "BACKEND", description = "Which.")
    private String backend;

    @Option(
            names = "--spread",
            paramLabel = "DURATION",
            converter = DemoCommand.DurationConverter.class,
            description = "Over how long, as in 2m.")
    private Duration spread;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        String target = "/v1/backends/" + AdminClient.segment(backend) + "/rebalance";
        Map<String, String> body = spread == null ? Map.of() : Map.of("spread", Words.duration(spread));
        return admin.talk(client -> {
            Json answer = client.ask(write.apply(AdminClient.Request.write("POST", target, body)));
            admin.show(answer, AnswerText.of(answer, backend + ": nothing to move"));
            return Exit.OK;
        });
    }
}
