package dev.tidegate.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tidegate events}. */
@Command(
        name = "events",
        description =
                "Shows changes of state as they come, a line each, until ctrl-C. With --output json, an object a line.")
final class EventsCommand implements Callable<Integer> {
    @Option(names = "--recent", paramLabel = "N", description = "Begins with the last N that there were.")
    private Integer recent;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        String target = "/v1/events" + (recent == null ? "" : "?recent=" + recent);
        return admin.talk(client -> {
            client.follow(target, event -> {
                admin.out().println(admin.json() ? event.toString() : words(event));
                admin.out().flush();
                return !admin.out().checkError(); // a reader that has gone wants no more
            });
            return Exit.OK;
        });
    }

    private static String words(Json event) {
        return Words.printable(Words.format(
                "%s  %-18s  %s", Words.seconds(event.text("time")), event.text("type"), event.text("message")));
    }
}
