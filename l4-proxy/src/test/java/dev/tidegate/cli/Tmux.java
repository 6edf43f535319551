package dev.tidegate.cli;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Tool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Assertions;

/** A terminal that a test types at and looks at. */
final class Tmux implements AutoCloseable {
    private static final Duration BOUND = Duration.ofSeconds(30);

    private final Tool tmux = Tool.require("tmux");
    private final Path socket;

    private Tmux(Path socket) {
        this.socket = socket;
    }

    /** One of 80 by 24 in which that command runs. */
    static Tmux start(Path directory, String command) {
        Tmux tmux = new Tmux(directory.resolve("tmux"));
        tmux.ask("new-session", "-d", "-x", "80", "-y", "24", "-c", directory.toString(), command);
        return tmux;
    }

    /** What tmux answers to one of its commands. */
    String ask(String... arguments) {
        List<String> all = new ArrayList<>(List.of("-u", "-f", "/dev/null", "-S", socket.toString()));
        all.addAll(List.of(arguments));
        Tool.Result result = tmux.run(Duration.ofSeconds(20), all.toArray(String[]::new));
        Assertions.assertEquals(0, result.exit(), result::toString);
        return result.stdout().stripTrailing();
    }

    /** The value of one of its variables. */
    String variable(String name) {
        return ask("display-message", "-p", "#{" + name + "}");
    }

    String screen() {
        return ask("capture-pane", "-p");
    }

    void keys(String... keys) {
        List<String> all = new ArrayList<>(List.of("send-keys", "--"));
        all.addAll(List.of(keys));
        ask(all.toArray(String[]::new));
    }

    void resize(int columns, int lines) {
        ask("resize-window", "-x", String.valueOf(columns), "-y", String.valueOf(lines));
    }

    /** Waits until the screen is so, and gives it. */
    String await(String what, Predicate<String> holds) {
        List<String> seen = new ArrayList<>();
        boolean came = Await.tryUntil(BOUND, () -> {
            seen.clear();
            seen.add(screen());
            return holds.test(seen.get(0));
        });
        if (!came) {
            throw new AssertionError("still not so: " + what + "; on the screen:\n" + screen());
        }
        return seen.get(0);
    }

    /** Whether the text has those words, one after the other. */
    static boolean inOrder(String text, String... words) {
        int at = -1;
        for (String word : words) {
            at = text.indexOf(word, at + 1);
            if (at < 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        ask("kill-server");
    }
}
