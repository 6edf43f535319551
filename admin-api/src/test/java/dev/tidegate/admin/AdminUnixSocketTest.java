package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The socket file: who may open it, and what happens to it. */
final class AdminUnixSocketTest {
    private final FakeOperations operations = new FakeOperations();
    private final AdminServer server = new AdminServer(operations);

    @TempDir
    Path directory;

    @AfterEach
    void stop() {
        server.close();
    }

    static String ask(Path path, String request) throws IOException {
        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            client.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.ISO_8859_1)));
            return new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @Test
    void itServesAnyHostAndIsClosedToOthers() throws IOException {
        Path path = directory.resolve("run/tidegate/admin.sock");

        server.start(List.of(AdminAddress.unix(path)));

        assertEquals("rw-rw----", mode(path));
        assertEquals("rwxr-x---", mode(path.getParent()));
        assertTrue(ask(path, "GET /livez HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n")
                .endsWith("live\n"));
        assertTrue(ask(path, "GET /livez HTTP/1.1\r\nHost: any\r\nOrigin: http://evil.example\r\n\r\n")
                .startsWith("HTTP/1.1 403 "));
    }

    @Test
    void aClientThatEndsItsSideFirstIsAnsweredInFull() throws IOException {
        Path path = directory.resolve("admin.sock");
        operations.metrics = "x".repeat(4 * 1024 * 1024); // more than the socket's buffer takes
        server.start(List.of(AdminAddress.unix(path)));

        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            client.write(ByteBuffer.wrap("GET /metrics HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1)));
            client.shutdownOutput();

            byte[] answer = Channels.newInputStream(client).readAllBytes();

            assertTrue(answer.length > 4 * 1024 * 1024, "bytes " + answer.length);
        }
    }

    @Test
    void itIsRemovedAtTheEnd() throws IOException {
        Path path = directory.resolve("admin.sock");
        server.start(List.of(AdminAddress.unix(path), AdminServerTest.loopback()));
        assertTrue(Files.exists(path));

        server.close();

        assertFalse(Files.exists(path));
    }

    @Test
    void aStaleOneIsReplaced() throws IOException {
        Path path = directory.resolve("admin.sock");
        try (ServerSocketChannel stale = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            stale.bind(UnixDomainSocketAddress.of(path));
        }
        assertTrue(Files.exists(path));

        server.start(List.of(AdminAddress.unix(path)));

        assertTrue(ask(path, "GET /livez HTTP/1.0\r\n\r\n").endsWith("live\n"));
    }

    @Test
    void aLiveOneIsLeftAlone() throws IOException {
        Path path = directory.resolve("admin.sock");
        server.start(List.of(AdminAddress.unix(path)));

        try (AdminServer second = new AdminServer(new FakeOperations())) {
            IOException refused = assertThrows(IOException.class, () -> second.start(List.of(AdminAddress.unix(path))));
            assertTrue(refused.getMessage().contains("is already in use"), refused.getMessage());
        }

        assertTrue(ask(path, "GET /livez HTTP/1.0\r\n\r\n").endsWith("live\n"));
    }

    @Test
    void aDirectoryThatCannotBeCreatedIsToldWithTheAddress() throws IOException {
        Path file = Files.writeString(directory.resolve("notes"), "keep");
        Path path = file.resolve("tidegate").resolve("admin.sock");

        IOException refused = assertThrows(IOException.class, () -> server.start(List.of(AdminAddress.unix(path))));

        assertTrue(
                refused.getMessage()
                        .startsWith("admin address \"unix:" + path + "\": its directory cannot be created: "),
                refused.getMessage());
    }

    @Test
    void aFileThatIsNoSocketIsLeftAlone() throws IOException {
        Path path = Files.writeString(directory.resolve("notes"), "keep");

        IOException refused = assertThrows(IOException.class, () -> server.start(List.of(AdminAddress.unix(path))));

        assertTrue(refused.getMessage().contains("no socket"), refused.getMessage());
        assertEquals("keep", Files.readString(path));
    }

    /** What nobody listens on is replaced; unix:/dev/null, by a process of root's, took /dev/null away. */
    @Test
    void aNamedPipeIsLeftAlone() throws IOException, InterruptedException {
        Path path = directory.resolve("admin.sock");
        assertEquals(0, new ProcessBuilder("mkfifo", path.toString()).start().waitFor());

        IOException refused = assertThrows(IOException.class, () -> server.start(List.of(AdminAddress.unix(path))));

        assertTrue(refused.getMessage().contains("no socket"), refused.getMessage());
        assertTrue(Files.exists(path));
    }

    @Test
    void aFailedStartLeavesNoSocketFile() throws IOException {
        Path path = directory.resolve("admin.sock");
        Path blocked = Files.writeString(directory.resolve("notes"), "keep");

        assertThrows(
                IOException.class, () -> server.start(List.of(AdminAddress.unix(path), AdminAddress.unix(blocked))));

        assertFalse(Files.exists(path));
    }

    @Test
    void curlGetsAnAnswer() throws IOException, InterruptedException {
        requireCurl();
        Path path = directory.resolve("admin.sock");
        server.start(List.of(AdminAddress.unix(path)));

        Process curl = new ProcessBuilder(
                        "/usr/bin/curl",
                        "-sS",
                        "--max-time",
                        "10",
                        "--unix-socket",
                        path.toString(),
                        "http://localhost/readyz")
                .redirectErrorStream(true)
                .start();
        String output = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertTrue(curl.waitFor(20, TimeUnit.SECONDS));
        assertEquals("{\"ready\":true,\"state\":\"ready\",\"without_candidate\":[]}\n", output);
    }

    /** Without curl the test is skipped; where nothing may be skipped it fails. */
    private static void requireCurl() {
        boolean there = Files.isExecutable(Path.of("/usr/bin/curl"));
        if ("true".equals(System.getenv("CI")) || "required".equals(System.getProperty("tidegate.tools"))) {
            assertTrue(there, "needs /usr/bin/curl, and nothing may be skipped here");
        }
        Assumptions.assumeTrue(there, "needs /usr/bin/curl");
    }
}
