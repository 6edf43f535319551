package dev.tidegate.cli;

import static dev.tidegate.cli.Tmux.inOrder;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A drain that is waited for, in a real terminal. */
@Timeout(120)
class DrainWaitIT {
    private static final String DRAIN = "POST /v1/backends/web/endpoints/a/drain";
    private static final String OPERATION = "GET /v1/operations/op-7";

    @TempDir
    Path directory;

    private Tmux drain() throws IOException {
        Path script = directory.resolve("start.sh");
        Files.writeString(script, """
                trap : INT
                %s -XX:TieredStopAtLevel=1 -cp '%s' %s drain web/a --wait --admin unix:%s
                echo exit=$?
                exec cat
                """.formatted(
                        Path.of(System.getProperty("java.home"), "bin", "java"),
                        TidegateProcess.classPath(),
                        Main.class.getName(),
                        directory.resolve("admin.sock")));
        return Tmux.start(directory, "sh " + script);
    }

    private CannedApi api() {
        return CannedApi.onSocket(directory)
                .on(DRAIN, 202, Views.operation("running", 30))
                .on(OPERATION, 200, Views.operation("running", 10));
    }

    @Test
    void theBarIsDrawnOverItselfAndEndsInOneLine() throws IOException {
        try (CannedApi api = api();
                Tmux tmux = drain()) {
            String bar =
                    tmux.await("two thirds", screen -> screen.contains("[####################..........] 10 of 30"));
            assertEquals(
                    1, bar.lines().filter(line -> line.contains(" of 30 left")).count(), bar);

            api.forget(OPERATION).on(OPERATION, 200, Views.operation("done", 0));
            String end = tmux.await("the end", screen -> screen.contains("exit=0"));
            assertTrue(end.startsWith("drain of backends/web/endpoints/a (op-7): done, 30 connections"), end);
        }
    }

    @Test
    void ctrlCEndsTheWaitAndNotTheDrain() throws IOException {
        try (CannedApi api = api();
                Tmux tmux = drain()) {
            tmux.await("two thirds", screen -> screen.contains("10 of 30"));
            tmux.keys("C-c");

            String end = tmux.await("the end", screen -> screen.contains("exit="));
            assertTrue(inOrder(end, "no longer waiting; the drain goes on (op-7)", "exit=130"), end);
            assertEquals(
                    List.of(DRAIN),
                    api.asked().stream().filter(line -> !line.equals(OPERATION)).toList());
        }
    }
}
