package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.ScriptedBackend;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The admin API of a process whose admin loop uses epoll. */
@Timeout(120)
class AdminOnEpollIT {
    @TempDir
    Path directory;

    /** Many answers one behind the other are more than the socket's buffer takes. */
    @Test
    @Tag("slow")
    void aClientThatEndsItsSideFirstIsAnsweredInFull() throws Exception {
        Path path = directory.resolve("admin.sock");
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, """
                        admin: {listen: "unix:%s"}
                        log: {access: {path: none}}
                        process: {warm-up: off}
                        frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                        backends: [{name: back, endpoints: [{name: a, address: "%s"}]}]
                        """.formatted(path, backend.hostPort()))
                        .start();
                SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            assertTrue(tidegate.isAlive());
            int asked = 20;
            String request = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
            String last = "GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            client.write(ByteBuffer.wrap((request.repeat(asked - 1) + last).getBytes(StandardCharsets.US_ASCII)));
            client.shutdownOutput();

            String answers = new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.UTF_8);

            assertEquals(asked, answers.split("HTTP/1.1 200 OK", -1).length - 1);
            assertTrue(answers.endsWith("}\n") || answers.endsWith("}"), "the last one is whole");
        }
    }
}
