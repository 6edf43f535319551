package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Requirement;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class NettySubjectTest {
    private static final int TIMEOUT_MILLIS = 20_000;
    /** More than all sockets on the way hold, even where {@code tcp_rmem} and {@code tcp_wmem} let them grow to 32 MiB. */
    private static final long STREAM_BYTES = 256L << 20;

    @Test
    void theNameOfARowSaysItsProgramItsTransportAndWhatIsDifferent() {
        assertEquals(
                List.of(
                        "bare-io_uring",
                        "bare-io_uring-multishot",
                        "bare-epoll",
                        "bare-nio",
                        "tidegate-io_uring",
                        "tidegate-epoll",
                        "tidegate-nio",
                        "tidegate-io_uring-tcp",
                        "tidegate-epoll-tcp",
                        "tidegate-nio-tcp"),
                NettySubject.all().stream().map(NettySubject::name).toList());
        for (NettySubject subject : NettySubject.all()) {
            assertEquals(subject, NettySubject.named(subject.name()).orElseThrow());
        }
        assertTrue(NettySubject.named(Subject.HAPROXY).isEmpty());
        assertTrue(
                SubjectStarter.names().containsAll(List.of("direct", "haproxy", "nginx", "bare-io_uring-multishot")));
    }

    @Test
    void rowsThatAreQuestionsOfTheirOwnRunOnlyByName() {
        assertEquals(
                List.of("bare-io_uring-multishot", "tidegate-io_uring-tcp", "tidegate-epoll-tcp", "tidegate-nio-tcp"),
                NettySubject.all().stream()
                        .filter(NettySubject::isOnlyByName)
                        .map(NettySubject::name)
                        .toList());
        assertFalse(NettySubject.named("tidegate-nio-tcp").orElseThrow().isWatched());
        assertTrue(NettySubject.tidegate(Transport.NIO).isWatched());
    }

    @Test
    void onlyTheRowOfThatNameReadsByMultishot() {
        assertEquals(
                List.of("-Dio.netty.iouring.recvMultiShotEnabled=false"),
                NettySubject.bare(Transport.IO_URING).jvmFlags());
        assertEquals(
                List.of("-Dio.netty.iouring.recvMultiShotEnabled=true"),
                NettySubject.named("bare-io_uring-multishot").orElseThrow().jvmFlags());
        assertEquals(List.of(), NettySubject.bare(Transport.EPOLL).jvmFlags());
        assertEquals(List.of(), NettySubject.tidegate(Transport.IO_URING).jvmFlags());
    }

    /** With multishot receives, which are Netty's default, the forwarder takes in the whole of such a stream. */
    @Test
    @Tag("slow")
    void theBareForwarderOnIoUringStopsReadingAheadOfAClientThatDoesNotRead() throws Exception {
        Requirement.met(Transport.IO_URING.isAvailable(), "needs transport io_uring");
        ExecutorService threads = Executors.newCachedThreadPool();
        AtomicLong taken = new AtomicLong();
        try (ServerSocket endpoint = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            endpoint.setSoTimeout(TIMEOUT_MILLIS);
            Process forwarder = start((InetSocketAddress) endpoint.getLocalSocketAddress());
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port(forwarder));
                    Socket accepted = endpoint.accept()) {
                Future<?> stream = threads.submit(() -> stream(accepted, taken));

                long before;
                do {
                    before = taken.get();
                    assertThrows(
                            TimeoutException.class,
                            () -> stream.get(1, TimeUnit.SECONDS),
                            () -> "the forwarder took " + taken + " bytes that nobody reads");
                } while (taken.get() != before);
                assertTrue(taken.get() > 0, "the stream has begun");
                assertTrue(client.isConnected(), "and was never read");
            } finally {
                forwarder.destroyForcibly();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** As {@link SubjectStarter} does, but for the flags that all rows share. */
    private static Process start(InetSocketAddress target) throws IOException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
        command.addAll(NettySubject.bare(Transport.IO_URING).jvmFlags());
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                BareForwarder.class.getName(),
                "--transport=io_uring",
                "--listen=0",
                "--target=" + HostPort.format(target)));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static int port(Process forwarder) throws IOException {
        String line = new BufferedReader(new InputStreamReader(forwarder.getInputStream(), StandardCharsets.UTF_8))
                .readLine();
        assertTrue(line != null && line.startsWith("listening "), "the forwarder says where it listens: " + line);
        return Integer.parseInt(line.substring("listening ".length()));
    }

    private static Void stream(Socket socket, AtomicLong taken) throws IOException {
        byte[] chunk = new byte[64 << 10];
        OutputStream out = socket.getOutputStream();
        while (taken.get() < STREAM_BYTES) {
            out.write(chunk);
            taken.addAndGet(chunk.length);
        }
        return null;
    }
}
