package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What {@link AcceptQueueIT} runs in a network namespace of its own, where nobody else's queue overflows. */
final class AcceptQueue {
    private AcceptQueue() {}

    /** Arguments: the transport, how many connects one after another, how many at once. Prints what came of them. */
    public static void main(String[] arguments) throws Exception {
        String transport = arguments[0];
        int oneAfterAnother = Integer.parseInt(arguments[1]);
        int atOnce = Integer.parseInt(arguments[2]);
        Path directory = Files.createTempDirectory("accept-queue");
        try (ScriptedBackend backend =
                        ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.withBacklog(4_096), Scripts.echo());
                TidegateProcess tidegate = TidegateProcess.run(directory, """
                        process: {workers: 2, warm-up: off, transport: %s}
                        frontends:
                          - {name: front, listen: "127.0.0.1:0", backend: back}
                        backends:
                          - name: back
                            endpoints: [{address: "%s"}]
                        """.formatted(transport, backend.hostPort()))
                        .start()) {
            long listening = ExhaustionIT.sockets(tidegate);
            connect(tidegate, oneAfterAnother, 1);
            connect(tidegate, atOnce, atOnce);
            // A descriptor that is given back later would be one more that is free.
            Await.until("all sockets are closed", () -> ExhaustionIT.sockets(tidegate) == listening);
            runOutOfDescriptors(tidegate, transport);
            connect(tidegate, oneAfterAnother, 1);
            connect(tidegate, atOnce, atOnce);
            System.out.println("all served, overflows=" + overflows());
        } finally {
            Files.delete(directory.resolve("tidegate.yaml"));
            Files.deleteIfExists(directory.resolve("state"));
            Files.delete(directory);
        }
    }

    private static void connect(TidegateProcess tidegate, int count, int atOnce) throws IOException {
        for (int done = 0; done < count; done += atOnce) {
            List<ScriptedClient> clients = new ArrayList<>();
            try {
                for (int i = 0; i < atOnce; i++) {
                    clients.add(tidegate.connect());
                }
                for (ScriptedClient client : clients) {
                    assertEchoes(client);
                }
            } finally {
                clients.forEach(ScriptedClient::close);
            }
        }
    }

    private static void runOutOfDescriptors(TidegateProcess tidegate, String transport) throws IOException {
        // io_uring's accept was armed before, and has the limit of that time: there it is the dial that fails.
        boolean acceptFails = !transport.equals("io_uring");
        String before = ExhaustionIT.limit(tidegate.pid());
        ExhaustionIT.setLimit(tidegate.pid(), ExhaustionIT.free(tidegate.pid(), 0) + ":");
        List<ScriptedClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 20; i++) {
                try {
                    clients.add(tidegate.connect());
                } catch (PeerGoneException atOnce) {
                    assertFalse(acceptFails, "reset, though it could not be accepted");
                }
            }
            tidegate.awaitErr(acceptFails ? "accept failed" : "connects to endpoint failed");
            if (!acceptFails) {
                // Before there are descriptors again: who is dialed for after that is served.
                for (ScriptedClient client : clients) {
                    assertEquals(End.Kind.RST, client.readToEnd().kind());
                }
            }
            ExhaustionIT.setLimit(tidegate.pid(), before + ":");
            if (acceptFails) {
                for (ScriptedClient client : clients) {
                    assertEchoes(client);
                }
            }
        } finally {
            clients.forEach(ScriptedClient::close);
        }
    }

    private static void assertEchoes(ScriptedClient client) throws IOException {
        client.send("p");
        assertEquals("p", client.readText(1));
    }

    /** Connections that the kernel dropped since the queue of whom they were for was full. */
    private static long overflows() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/net/netstat")).stream()
                .filter(line -> line.startsWith("TcpExt:"))
                .toList();
        List<String> names = List.of(lines.get(0).split(" ", -1));
        return Long.parseLong(lines.get(1).split(" ", -1)[names.indexOf("ListenOverflows")]);
    }
}
