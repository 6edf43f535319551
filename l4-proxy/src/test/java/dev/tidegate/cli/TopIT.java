package dev.tidegate.cli;

import static dev.tidegate.cli.Tmux.inOrder;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code tidegate top} as a person has it: in a real terminal, by its keys and what is on the screen. */
@Timeout(240)
class TopIT {
    @TempDir
    Path directory;

    /** A terminal with a line of its own on it, then `top`, then its exit code. */
    private Tmux top(String environment) throws IOException {
        Path script = directory.resolve("start.sh");
        Files.writeString(script, """
                echo before-top
                stty -a | tr ' ' '\\n' | grep -x -e echo -e -echo
                env LC_ALL=C.UTF-8 %s %s -XX:TieredStopAtLevel=1 -cp '%s' %s top --admin unix:%s
                echo exit=$?
                stty -a | tr ' ' '\\n' | grep -x -e echo -e -echo
                exec cat
                """.formatted(
                        environment,
                        Path.of(System.getProperty("java.home"), "bin", "java"),
                        TidegateProcess.classPath(),
                        Main.class.getName(),
                        directory.resolve("admin.sock")));
        return Tmux.start(directory, "sh " + script);
    }

    private CannedApi api() {
        return CannedApi.onSocket(directory)
                .on("GET /v1/status", 200, Views.status(Views.operation("running", 15)))
                .on("GET /v1/frontends", 200, Views.frontends(100))
                .on("GET /v1/connections?limit=1000", 200, Views.connections())
                .on(
                        "GET /v1/backends",
                        200,
                        Views.backends(
                                Views.endpoint("alpha", "ready", 10, 1_000),
                                Views.endpoint("beta", "draining", 40, 500),
                                Views.endpoint("gamma", "ready", 25, 500)));
    }

    private static void assertGivenBack(Tmux tmux, int exit) {
        String after = tmux.await("echo is on again", screen -> inOrder(screen, "exit=", "echo"));
        assertTrue(inOrder(after, "before-top", "echo", "exit=" + exit, "echo"), after);
        assertFalse(after.contains("-echo"), after);
        assertFalse(after.contains("ENDPOINT"), after);
        assertEquals("0", tmux.variable("alternate_on"));
        assertEquals("1", tmux.variable("cursor_flag"));
    }

    @Test
    void itSortsResizesShowsItsViewsAndGivesTheTerminalBack() throws IOException {
        try (CannedApi api = api();
                Tmux tmux = top("")) {
            String first = tmux.await(
                    "the table", screen -> inOrder(screen, "tidegate 1.2.3", "alpha", "beta", "gamma", "q quit"));
            assertEquals("1", tmux.variable("alternate_on"));
            assertTrue(first.lines().allMatch(line -> line.length() <= 80), first);
            assertTrue(first.contains("█"), first);
            assertTrue(first.contains("15 of 30 left"), first);

            tmux.keys("s", "s", "s", "s");
            tmux.await("sorted by in-flight", screen -> inOrder(screen, "IN-FLIGHT▼", "beta", "gamma", "alpha"));
            tmux.keys("r");
            tmux.await("the other way round", screen -> inOrder(screen, "IN-FLIGHT▲", "alpha", "gamma", "beta"));

            tmux.resize(120, 40);
            tmux.await(
                    "as wide as the terminal",
                    screen -> screen.lines().anyMatch(line -> line.startsWith("BACKEND") && line.indexOf(" WHY") > 80));
            tmux.resize(80, 24);
            tmux.await(
                    "narrow again",
                    screen -> inOrder(screen, "FAILED/S", "alpha", "gamma", "beta", "q quit")
                            && screen.lines().allMatch(line -> line.length() <= 80));

            tmux.keys("f");
            tmux.await("frontends", screen -> inOrder(screen, "[frontends]", "ACCEPTS/S", "edge"));
            tmux.keys("f");
            tmux.await("connections", screen -> inOrder(screen, "[connections]", "c-1", "127.0.0.1:40000"));
            tmux.keys("?");
            tmux.await("help", screen -> screen.contains("hold the picture"));
            tmux.keys("?", "f");

            tmux.await("the table again", screen -> inOrder(screen, "[backends]", "alpha", "beta", "gamma"));
            tmux.keys("Space");
            tmux.await("held", screen -> screen.contains("PAUSED"));
            api.forget("GET /v1/backends")
                    .on("GET /v1/backends", 200, Views.backends(Views.endpoint("delta", "disabled", 1, 1)));
            tmux.keys("Space");
            tmux.await("the newest", screen -> screen.contains("delta") && !screen.contains("alpha"));

            tmux.keys("q");
            assertGivenBack(tmux, Exit.OK);
        }
    }

    @Test
    void ctrlCGivesTheTerminalBackAndNoColourMeansNone() throws IOException {
        try (CannedApi api = api();
                Tmux tmux = top("NO_COLOR=1")) {
            tmux.await("the table", screen -> screen.contains("alpha"));
            assertFalse(tmux.ask("capture-pane", "-p", "-e").matches("(?s).*\u001b\\[([0-9]+;)*3[0-7]m.*"));

            tmux.keys("C-c");
            assertGivenBack(tmux, Exit.OK);
            assertTrue(api.asked().contains("GET /v1/backends"));
        }
    }

    @Test
    void aSignalGivesTheTerminalBackToo() throws IOException {
        try (CannedApi api = api();
                Tmux tmux = top("")) {
            tmux.await("the table", screen -> screen.contains("alpha"));

            long shell = Long.parseLong(tmux.variable("pane_pid"));
            ProcessHandle.of(shell).orElseThrow().children().forEach(ProcessHandle::destroy);
            assertGivenBack(tmux, 128 + 15);
            assertTrue(api.asked().contains("GET /v1/backends"));
        }
    }

    @Test
    void aProcessThatGoesAwayIsSaidToHaveGoneAndIsFoundAgain() throws IOException {
        CannedApi api = api();
        try (Tmux tmux = top("")) {
            try (api) {
                tmux.await("the table", screen -> screen.contains("alpha"));
            }
            tmux.await("trouble, beside the last picture", screen -> inOrder(screen, "cannot reach", "alpha"));
            try (CannedApi again = api()) {
                tmux.await("no trouble", screen -> screen.contains("alpha") && !screen.contains("cannot reach"));
                assertTrue(again.asked().contains("GET /v1/backends"));
            }
            tmux.keys("q");
            assertGivenBack(tmux, Exit.OK);
        }
    }

    /** It showed nothing at all, or a picture that did not say how old it was; ctrl-C alone ended it. */
    @Test
    void aProcessThatTakesConnectionsAndNeverAnswersIsSaidToBeSilentAndQQuits() throws IOException {
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(directory.resolve("admin.sock")));
            try (Tmux tmux = top("")) {
                tmux.await("for how long", screen -> inOrder(screen, "no answer for", "from unix:", "q quit"));
                tmux.keys("q");
                assertGivenBack(tmux, Exit.OK);
            }
        }
    }

    @Test
    void aProcessThatFallsSilentLeavesItsLastPictureWithItsAge() throws IOException {
        Path socket = directory.resolve("admin.sock");
        try (Tmux tmux = top("")) {
            try (CannedApi api = api()) {
                tmux.await("the table", screen -> screen.contains("alpha"));
                assertTrue(api.asked().contains("GET /v1/backends"));
            }
            Files.deleteIfExists(socket);
            try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                silent.bind(UnixDomainSocketAddress.of(socket));
                tmux.await("its age", screen -> inOrder(screen, "as of ", "s ago: no answer for", "alpha"));
                tmux.keys("q");
                assertGivenBack(tmux, Exit.OK);
            }
        }
    }

    @Test
    void withoutAProcessItSaysSoAndTakesNoTerminal() throws IOException {
        try (Tmux tmux = top("")) {
            assertGivenBack(tmux, Exit.UNAVAILABLE);
            assertTrue(tmux.screen().contains("cannot reach"), tmux.screen());
        }
    }
}
