package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Requirement;
import dev.tidegate.testkit.ScriptedBackend;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hosts that allow less: it starts on the next transport and says so in one line, or fails in one where it was told which.
 * {@link RunIT} has those without natives and without io_uring.
 */
class NarrowHostIT {
    private static final int IO_URING_SETUP = 425;
    private static final int EPERM = 1;

    /** All that is on a disk, and the temporary directory wherever that is. */
    private static final String READ_ONLY =
            "for at in / /tmp; do ! mountpoint -q $at || mount -o remount,bind,ro $at || exit 1; done";

    @TempDir
    Path directory;

    /** netty/netty#6678: a native library that was unpacked to a noexec directory would not load, with an unclear error. */
    @ParameterizedTest
    @CsvSource({"noexec, io_uring", "ro, epoll"})
    void aTransportAskedForWhoseLibraryCannotBeUnpackedExits1WithOneLine(String mount, String transport)
            throws Exception {
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "transport: " + transport))
                        .jvm("-Djava.io.tmpdir=" + temporary)
                        .unshared("-rm", "mount -t tmpfs -o " + mount + " tmpfs " + temporary)
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            assertTrue(
                    tidegate.err().get(0).contains("\"" + transport + "\" is not available here: "),
                    tidegate.err().get(0));
        }
    }

    /** netty/netty#6678. */
    @ParameterizedTest
    @ValueSource(strings = {"noexec", "ro"})
    void whereNoLibraryCanBeUnpackedItRunsOnNioAndOneLineSaysWhy(String mount) throws Exception {
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "transport: auto"))
                        .jvm("-Djava.io.tmpdir=" + temporary)
                        .unshared("-rm", "mount -t tmpfs -o " + mount + " tmpfs " + temporary)
                        .start();
                var client = tidegate.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));

            assertSpeaksPlainly(tidegate);
            String line = tidegate.awaitErr("started version=");
            assertTrue(line.contains("transport=nio (auto: no epoll: ") && line.contains("; no io_uring: "), line);
        }
    }

    /** netty/netty#6678: a work directory of one's own is the way out. */
    @Test
    void aWorkDirectoryThatAllowsExecutionTakesTheLibraryThatTheTemporaryOneCannot() throws Exception {
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        Path work = Files.createDirectory(directory.resolve("work"));
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "transport: epoll"))
                        .jvm("-Djava.io.tmpdir=" + temporary, "-Dio.netty.native.workdir=" + work)
                        .unshared("-rm", "mount -t tmpfs -o noexec tmpfs " + temporary)
                        .start()) {
            assertTrue(tidegate.awaitErr("started version=").contains("transport=epoll (asked for)"));
        }
    }

    /** netty/netty-incubator-transport-io_uring#41 and #163: without io_uring, and with little memory to lock. */
    @Test
    void withoutIoUringAndWithLittleMemoryToLockManyWorkersRunOnEpoll() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "transport: auto").replace("workers: 1", "workers: 32"))
                        .unshared("-r", "prlimit --pid $$ --memlock=65536:65536")
                        .start();
                var client = tidegate.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));

            assertSpeaksPlainly(tidegate);
            assertTrue(tidegate.awaitErr("started version=").contains("transport=epoll (auto: epoll is available)"));
        }
    }

    /** netty/netty-incubator-transport-io_uring#41: io_uring forbidden, and no library for epoll either. */
    @Test
    void theLineNamesEveryTransportThatCouldNotBeHad() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "transport: auto"))
                        .jvm("-Dio.netty.transport.noNative=true")
                        .refusing(IO_URING_SETUP, EPERM)
                        .start()) {
            assertSpeaksPlainly(tidegate);
            String line = tidegate.awaitErr("started version=");
            assertTrue(line.contains("transport=nio (auto: no epoll: ") && line.contains("; no io_uring: "), line);
        }
    }

    /** netty/netty#6678: nothing can be unpacked, and nothing kept, where all that is mounted is read-only. */
    @Test
    void onAFileSystemThatIsReadOnlyItServesAndSaysInALineEachWhatItDoesWithout() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "transport: auto"))
                        .unshared("-rm", READ_ONLY)
                        .start();
                var client = tidegate.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));

            assertSpeaksPlainly(tidegate);
            assertTrue(tidegate.awaitErr("started version=").contains("transport=nio (auto: no epoll: "));
            assertEquals(
                    1,
                    tidegate.err().stream()
                            .filter(line -> line.contains("runtime state is not kept over a restart"))
                            .count(),
                    () -> tidegate.err().toString());
        }
    }

    @Test
    void anAccessLogOnAFileSystemThatIsReadOnlyExits1WithOneLine() throws Exception {
        Path log = directory.resolve("access.log");
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, yaml(backend, "transport: auto") + "log: {access: {path: " + log + "}}\n")
                        .unshared("-rm", READ_ONLY)
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(1, tidegate.err().size(), tidegate.err().toString());
            String line = tidegate.err().get(0);
            assertTrue(line.startsWith("tidegate: access log \"" + log + "\" cannot be opened for appending: "), line);
        }
    }

    private static void assertSpeaksPlainly(TidegateProcess tidegate) {
        List<String> err = tidegate.err();
        assertFalse(
                err.stream().anyMatch(line -> line.startsWith("\tat ") || line.contains("Exception:")),
                () -> String.join("\n", err));
        assertTrue(err.size() <= 6, () -> String.join("\n", err));
    }

    @Test
    void descriptorsForNextToNoConnectionsAreWarnedOf() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "transport: epoll"))
                        .limited("--nofile=150:150")
                        .start()) {
            tidegate.awaitErr(
                    "process.max-connections: auto is 8, and who comes beyond that is reset: the limit on file"
                            + " descriptors is 150, ");
        }
    }

    /** What root has left behind by a start by hand, for example. */
    @Test
    void anAdminSocketOfAnotherUserIsNamed() throws Exception {
        Requirement.met("root".equals(System.getProperty("user.name")), "files of two users need root");
        Path socket = directory.resolve("admin.sock");
        try (ServerSocketChannel left = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            left.bind(UnixDomainSocketAddress.of(socket));
        }
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
        Files.setAttribute(socket, "unix:uid", 1);
        String mayNot = "-dac_override,-dac_read_search";
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml(backend, "transport: auto") + "admin: {listen: \"unix:" + socket + "\"}\n")
                        .before(List.of("setpriv", "--bounding-set", mayNot, "--inh-caps", mayNot))
                        .startOnly()) {
            assertEquals(1, tidegate.awaitExit());

            assertEquals(
                    List.of("tidegate: admin address \"unix:" + socket
                            + "\": the socket that is there may not be opened"
                            + " (Permission denied): it is another user's; stop its process, remove it, or choose another"
                            + " path"),
                    tidegate.err());
        }
    }

    private static String yaml(ScriptedBackend backend, String process) {
        return """
                process: {workers: 1, warm-up: off, %s}
                frontends:
                  - {name: front, listen: "127.0.0.1:0", backend: back}
                backends:
                  - name: back
                    endpoints: [{address: "%s"}]
                """.formatted(process, backend.hostPort());
    }
}
