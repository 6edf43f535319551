package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedConnection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process that stood still for seconds (a suspended machine, a debugger, a starved container), and goes on. */
@Tag("clock")
class StallIT {
    private static final int CLIENTS = 8;
    private static final long GAP_NANOS = 50_000_000;
    /** By then every connection is past its soft limit. */
    private static final int TICKS_BEFORE = 30;
    /** Of 2 s, four times the silence that is asked for. */
    private static final int TICKS_WHILE_STOPPED = 40;

    private static final int TICKS_AFTER = 24;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("slow")
    void whatCameWhileTheProcessStoodStillIsNoSilence(String transport) throws Exception {
        AtomicInteger sent = new AtomicInteger();
        try (var endpoint = ScriptedBackend.start(connection -> tick(connection, sent));
                var tidegate = TidegateProcess.run(directory, yaml(endpoint, transport))
                        .start()) {
            List<ScriptedClient> clients = new ArrayList<>();
            try {
                for (int i = 0; i < CLIENTS; i++) {
                    ScriptedClient client = tidegate.connect();
                    clients.add(client);
                    client.send("tick"); // and now the endpoint speaks, and nobody else
                }
                readTicks(clients, 0, TICKS_BEFORE);

                tidegate.signal("STOP");
                int stopped = sent.get();
                Await.until(
                        "ticks that the process does not see",
                        () -> sent.get() >= stopped + CLIENTS * TICKS_WHILE_STOPPED);
                tidegate.signal("CONT");

                readTicks(clients, TICKS_BEFORE, TICKS_BEFORE + TICKS_WHILE_STOPPED + TICKS_AFTER);
                for (ScriptedClient client : clients) {
                    assertEquals(End.Kind.FIN, client.readToEnd().kind());
                }
            } finally {
                clients.forEach(ScriptedClient::close);
            }
            Await.equal("lines of the access log", CLIENTS, () -> retired(tidegate, "quiet"));
            assertEquals(0, retired(tidegate, "cut"));
            System.out.println(transport + " stalled: streams=" + CLIENTS + " broken=0 retired=" + CLIENTS + " cut=0");
        }
    }

    private static String yaml(ScriptedBackend endpoint, String transport) {
        return """
                process: {warm-up: off, transport: %s, workers: 1}
                frontends:
                  - name: front
                    listen: "127.0.0.1:0"
                    backend: back
                    lifetime: {max-age: 1s, quiet: 500ms, grace: 10s}
                backends:
                  - name: back
                    endpoints: [{address: "%s"}]
                """.formatted(transport, endpoint.hostPort());
    }

    /** Numbers, one every 50 ms; then nothing more. */
    private static void tick(ScriptedConnection connection, AtomicInteger sent) throws IOException {
        connection.readExactly(4);
        long dueNanos = System.nanoTime();
        for (int i = 0; i < TICKS_BEFORE + TICKS_WHILE_STOPPED + TICKS_AFTER; i++) {
            connection.send(ByteBuffer.allocate(Integer.BYTES).putInt(i).array());
            sent.getAndIncrement();
            dueNanos += GAP_NANOS;
            while (connection.isOpen() && dueNanos - System.nanoTime() > 0) {
                LockSupport.parkNanos(dueNanos - System.nanoTime());
            }
        }
        connection.readToEnd(Duration.ofSeconds(30));
    }

    private static void readTicks(List<ScriptedClient> clients, int first, int end) throws IOException {
        for (int i = first; i < end; i++) {
            for (ScriptedClient client : clients) {
                int number = ByteBuffer.wrap(client.readExactly(Integer.BYTES)).getInt();
                assertEquals(i, number, client::toString);
            }
        }
    }

    private static int retired(TidegateProcess tidegate, String how) {
        List<String> lines = tidegate.out();
        assertTrue(lines.stream().allMatch(line -> line.startsWith("{")), lines::toString);
        return (int) lines.stream()
                .filter(line -> line.contains("\"reason\":\"max-age\"") && line.contains("\"how\":\"" + how + "\""))
                .count();
    }
}
