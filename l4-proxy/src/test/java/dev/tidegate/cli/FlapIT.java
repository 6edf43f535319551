package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.HostPort;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An endpoint that is there and gone by turns: its state changes ever more seldom, and nobody else is concerned. */
@Tag("clock")
class FlapIT {
    private static final long HALF_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    @TempDir
    Path directory;

    @Test
    @Tag("slow")
    void changesAreBoundedInTwelveSeconds() throws Exception {
        flap(Duration.ofSeconds(12), 15);
    }

    @Test
    @Tag("nightly")
    void changesAreBoundedInFiveMinutes() throws Exception {
        flap(Duration.ofMinutes(5), 24);
    }

    /** Holds are 0, 0.4, 0.8, 1.6 … s: in a time t there are no more than about log2(t / 0.2 s) falls, and as many rises. */
    private void flap(Duration time, int mostChanges) throws Exception {
        int port = FreePort.pick();
        try (var steady = ScriptedBackend.start(Scripts.echo());
                var tidegate =
                        TidegateProcess.run(directory, yaml(steady, port)).start()) {
            int turns = (int) (time.toNanos() / (2 * HALF_NANOS));
            for (int i = 0; i < turns; i++) {
                try (ServerSocket there = listen(port)) {
                    pass(HALF_NANOS);
                    assertTrue(there.isBound());
                }
                pass(HALF_NANOS);
            }
            long changes = changes(tidegate, "127.0.0.1:" + port);
            long others = changes(tidegate, HostPort.of(steady.address()));
            System.out.println("flapped " + turns + " times: state changes " + changes);
            assertTrue(changes >= 3 && changes <= mostChanges, "state changes: " + changes);
            assertEquals(1, others, "the other came up, and that is all");
        }
    }

    private static ServerSocket listen(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 100);
        return socket;
    }

    private static void pass(long nanos) {
        long until = System.nanoTime() + nanos;
        Await.until("time passes", Duration.ofSeconds(30), () -> System.nanoTime() - until >= 0);
    }

    private static long changes(TidegateProcess tidegate, String endpoint) {
        return tidegate.err().stream()
                .filter(line -> line.contains("INFO Health endpoint ") || line.contains("WARN Health endpoint "))
                .filter(line -> line.contains("endpoint=" + endpoint + " "))
                .count();
    }

    private String yaml(ScriptedBackend steady, int port) {
        return """
                log: {access: {path: none}}
                frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                backends:
                  - name: back
                    endpoints: [{name: steady, address: "%s"}, {name: flapping, address: "127.0.0.1:%d"}]
                    health: {type: tcp, interval: 100ms, timeout: 100ms, rise: 2, fall: 3}
                    outlier: off
                """.formatted(steady.hostPort(), port);
    }
}
