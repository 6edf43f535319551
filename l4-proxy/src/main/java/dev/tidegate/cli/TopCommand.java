package dev.tidegate.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code tidegate top}. */
@Command(
        name = "top",
        description = "Shows endpoints, frontends and connections live, until q. With --output json, one sample.",
        footerHeading = "%nKeys:%n",
        footer = {
            "  q            quit",
            "  f            backends, frontends, connections",
            "  s, r         sort by the next column; the other way round",
            "  up, down     scroll, as do k and j",
            "  space        hold the picture",
            "  ?            help"
        })
final class TopCommand implements Callable<Integer> {
    /** The terminal is not taken sooner than that from whoever will be told a failure instead. */
    private static final long FIRST_MILLIS = 1_000;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            if (admin.json()) {
                admin.out().println(json(TopSample.ask(client, true)).pretty());
                return Exit.OK;
            }
            if (!Stdout.isTerminal(System.getenv())) {
                return failed("top needs a terminal; `tidegate status` shows the same once");
            }
            try (TopPoll poll = new TopPoll(client).start()) {
                poll.awaitFirst(FIRST_MILLIS);
                return show(poll);
            } catch (IOException e) {
                return failed("the terminal cannot be used: " + e.getMessage());
            }
        });
    }

    private static Json json(TopSample sample) {
        Map<String, Json> members = new LinkedHashMap<>();
        members.put("status", sample.status());
        members.put("frontends", sample.frontends());
        members.put("backends", sample.backends());
        members.put("connections", sample.connections());
        return Json.object(members);
    }

    private int show(TopPoll poll) throws IOException, UnreachableException, RefusedException {
        TopState state = new TopState();
        Optional<TopSample.Pair> shown = poll.latest();
        try (TopScreen screen = TopScreen.open(!System.getenv().containsKey("NO_COLOR"))) {
            while (!state.ended()) {
                poll.failIfNeverAnswered();
                if (!state.paused() || shown.isEmpty()) {
                    shown = poll.latest();
                }
                screen.draw(shown, state, poll.trouble());
                state.key(screen.key());
                poll.withConnections(state.view() == TopView.CONNECTIONS);
            }
            return screen.exit();
        }
    }

    private int failed(String message) {
        admin.err().println("tidegate: " + message);
        return Exit.FAILED;
    }
}
