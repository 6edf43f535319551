package dev.tidegate.listener;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InheritedSocketsTest {
    private static final long O_NONBLOCK = 04000;

    @TempDir
    Path directory;

    private final List<InheritedSocket> adopted = new ArrayList<>();

    @BeforeAll
    static void needsEpoll() {
        Epoll.ensureAvailability();
    }

    @AfterEach
    void closeAll() throws IOException {
        for (InheritedSocket each : adopted) {
            each.close();
        }
    }

    @Test
    void aListeningSocketIsKnownByItsNameAndByWhereItListens() throws IOException {
        Socket socket = listening();
        InetSocketAddress where = socket.localAddress();

        InheritedSocket taken =
                adopt("web", socket.intValue()).named("f", "web").get(0);

        assertEquals(Optional.of(where), taken.tcp());
        assertEquals("systemd:web", taken.toString());
    }

    /** systemd passes blocking sockets, and a worker must never wait in accept. */
    @Test
    void whatWasABlockingSocketIsNoneAnyMore() throws IOException {
        Socket socket = listening();

        InheritedSocket taken = adopt("web", socket.intValue()).all().get(0);

        assertNotEquals(socket.intValue(), taken.fd(), "it came by another way, which made it so");
        assertTrue((flags(taken.fd()) & O_NONBLOCK) != 0);
        assertFalse(Files.exists(Path.of("/proc/self/fd/" + socket.intValue())), "the first one is closed");
    }

    private static long flags(int fd) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/fdinfo/" + fd)).stream()
                .filter(line -> line.startsWith("flags:"))
                .mapToLong(line -> Long.parseLong(line.substring(6).strip(), 8))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aUnixSocketIsNoAddressOfTcp() throws IOException {
        Socket socket = Socket.newSocketDomain();
        Path path = directory.resolve("a.sock");
        socket.bind(new DomainSocketAddress(path.toString()));
        socket.listen(1);

        InheritedSocket taken = adopt("admin", socket.intValue()).all().get(0);

        assertEquals(Optional.empty(), taken.tcp());
        assertEquals(path.toString(), taken.address().orElseThrow().toString());
    }

    @Test
    void whatDoesNotListenOrIsNoStreamIsToldOfToWhoeverWantsIt() throws IOException {
        Socket datagram = Socket.newSocketDgram();
        Socket silent = Socket.newSocketStream();
        try {
            InheritedSockets sockets = InheritedSockets.adopt(List.of(
                    new InheritedSockets.Descriptor("dgram", "", datagram.intValue()),
                    new InheritedSockets.Descriptor("silent", "", silent.intValue())));
            assertTrue(refused(sockets, "dgram").endsWith(" is no stream socket; ListenStream= makes one"));
            assertTrue(refused(sockets, "silent")
                    .endsWith(" does not listen; Accept=no gives the listening socket itself"));
        } finally {
            datagram.close();
            silent.close();
        }
    }

    @Test
    void aDescriptorThatIsNotOpenIsToldOf() throws IOException {
        InheritedSockets sockets =
                InheritedSockets.adopt(List.of(new InheritedSockets.Descriptor("web", "", 1_000_000)));

        assertTrue(refused(sockets, "web").contains("descriptor 1000000 is no open socket: "));
    }

    @Test
    void aNameThatIsNotThereIsToldWithThoseThatAre() throws IOException {
        InheritedSockets sockets = adopt("web", listening().intValue());

        assertTrue(refused(sockets, "wbe")
                .startsWith(
                        "f: systemd:wbe: no socket of that name was passed to this process;" + " passed were: web;"));
        assertTrue(refused(InheritedSockets.NONE, "web").contains("; none was;"));
    }

    private static String refused(InheritedSockets sockets, String name) {
        return assertThrows(IOException.class, () -> sockets.named("f", name)).getMessage();
    }

    private InheritedSockets adopt(String name, int fd) throws IOException {
        InheritedSockets sockets = InheritedSockets.adopt(List.of(new InheritedSockets.Descriptor(name, "", fd)));
        adopted.addAll(sockets.all());
        return sockets;
    }

    private static Socket listening() throws IOException {
        Socket socket = Socket.newSocketStream();
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        socket.listen(1);
        return socket;
    }
}
