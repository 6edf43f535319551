package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Requirement;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BareForwarderTest {
    private static final int READ_BYTES = 16 << 10;
    /** No multiple of any buffer on the way. */
    private static final int STREAM_BYTES = (16 << 20) + 4_711;
    /** More than all buffers on the way hold, even where {@code tcp_rmem} and {@code tcp_wmem} let them grow to 32 MiB. */
    private static final int BLOCKING_STREAM_BYTES = (96 << 20) + 4_711;

    private static final int TIMEOUT_MILLIS = 20_000;

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void stopThreads() throws InterruptedException {
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS), "threads end");
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void clientsStreamAndFinArriveBeforeTheAnswerThatFollowsThem(Transport transport) throws Exception {
        Requirement.met(transport.isAvailable(), "needs transport " + transport.word());
        try (ServerSocket endpoint = listen();
                BareForwarder forwarder = forwarderTo(endpoint, transport);
                Socket client = connect(forwarder)) {
            Future<String> sent = threads.submit(() -> sendAndFinish(client, 1));
            try (Socket accepted = endpoint.accept()) {
                accepted.setSoTimeout(TIMEOUT_MILLIS);
                String received = hashUntilEnd(accepted);
                assertEquals(result(sent), received);
                // Only now does the other direction begin, after the client's side has ended.
                Future<String> answered = threads.submit(() -> sendAndFinish(accepted, 2));
                assertEquals(hashUntilEnd(client), result(answered));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void endpointsStreamAndFinArriveWhileTheClientGoesOn(Transport transport) throws Exception {
        Requirement.met(transport.isAvailable(), "needs transport " + transport.word());
        try (ServerSocket endpoint = listen();
                BareForwarder forwarder = forwarderTo(endpoint, transport);
                Socket client = connect(forwarder);
                Socket accepted = endpoint.accept()) {
            accepted.setSoTimeout(TIMEOUT_MILLIS);
            Future<String> sent = threads.submit(() -> sendAndFinish(accepted, 3));
            assertEquals(hashUntilEnd(client), result(sent));
            Future<String> answered = threads.submit(() -> sendAndFinish(client, 4));
            assertEquals(hashUntilEnd(accepted), result(answered));
        }
    }

    /** Blocks the forwarder's writes toward a side that has sent its FIN: the writer is far ahead before anybody reads. */
    @ParameterizedTest
    @EnumSource(Transport.class)
    @Tag("slow")
    void streamThatBlocksTowardAHalfClosedClientArrivesWhole(Transport transport) throws Exception {
        Requirement.met(transport.isAvailable(), "needs transport " + transport.word());
        try (ServerSocket endpoint = listen();
                BareForwarder forwarder = forwarderTo(endpoint, transport);
                Socket client = connectWithSmallReceiveBuffer(forwarder);
                Socket accepted = endpoint.accept()) {
            accepted.setSoTimeout(TIMEOUT_MILLIS);
            client.shutdownOutput();
            assertEquals(-1, accepted.getInputStream().read());
            CountDownLatch started = new CountDownLatch(1);
            Future<String> sent = threads.submit(() -> {
                started.countDown();
                return sendAndFinish(accepted, 7, BLOCKING_STREAM_BYTES);
            });
            assertTrue(started.await(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS), "the writer has started");
            assertThrows(
                    TimeoutException.class,
                    () -> sent.get(500, TimeUnit.MILLISECONDS),
                    "the stream blocks when unread");
            assertEquals(hashUntilEnd(client), result(sent));
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void bothStreamsAtOnceArriveWhole(Transport transport) throws Exception {
        Requirement.met(transport.isAvailable(), "needs transport " + transport.word());
        try (ServerSocket endpoint = listen();
                BareForwarder forwarder = forwarderTo(endpoint, transport);
                Socket client = connect(forwarder);
                Socket accepted = endpoint.accept()) {
            accepted.setSoTimeout(TIMEOUT_MILLIS);
            Future<String> sent = threads.submit(() -> sendAndFinish(client, 5));
            Future<String> answered = threads.submit(() -> sendAndFinish(accepted, 6));
            Future<String> received = threads.submit(() -> hashUntilEnd(accepted));
            assertEquals(hashUntilEnd(client), result(answered));
            assertEquals(result(sent), result(received));
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void messageAndFinSentAtOnceAreAnswered(Transport transport) throws Exception {
        Requirement.met(transport.isAvailable(), "needs transport " + transport.word());
        try (ServerSocket endpoint = listen();
                BareForwarder forwarder = forwarderTo(endpoint, transport)) {
            for (int i = 0; i < 100; i++) {
                try (Socket client = connect(forwarder)) {
                    client.getOutputStream().write(new byte[] {1, 2, 3});
                    client.shutdownOutput();
                    try (Socket accepted = endpoint.accept()) {
                        accepted.setSoTimeout(TIMEOUT_MILLIS);
                        accepted.getOutputStream()
                                .write(accepted.getInputStream().readAllBytes());
                    }
                    assertEquals(3, client.getInputStream().readAllBytes().length, "bytes that came back");
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void refusedConnectResetsTheClient(Transport transport) throws Exception {
        Requirement.met(transport.isAvailable(), "needs transport " + transport.word());
        InetSocketAddress nobody;
        try (ServerSocket closed = listen()) {
            nobody = (InetSocketAddress) closed.getLocalSocketAddress();
        }
        try (BareForwarder forwarder = forwarder(nobody, transport);
                Socket client = connect(forwarder)) {
            assertThrows(SocketException.class, () -> client.getInputStream().read());
        }
    }

    private static ServerSocket listen() throws IOException {
        ServerSocket endpoint = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        endpoint.setSoTimeout(TIMEOUT_MILLIS);
        return endpoint;
    }

    private static BareForwarder forwarderTo(ServerSocket endpoint, Transport transport) {
        return forwarder((InetSocketAddress) endpoint.getLocalSocketAddress(), transport);
    }

    private static BareForwarder forwarder(InetSocketAddress target, Transport transport) {
        return BareForwarder.start(
                transport, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), target, 1, READ_BYTES);
    }

    private static Socket connect(BareForwarder forwarder) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), forwarder.port());
        client.setSoTimeout(TIMEOUT_MILLIS);
        return client;
    }

    /**
     * A client whose receive window stays small. A socket without a size of its own may grow to the host's
     * {@code tcp_rmem}, which takes the whole stream where that is set high: nothing would block.
     */
    private static Socket connectWithSmallReceiveBuffer(BareForwarder forwarder) throws IOException {
        Socket client = new Socket();
        client.setReceiveBufferSize(64 << 10);
        client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), forwarder.port()), TIMEOUT_MILLIS);
        client.setSoTimeout(TIMEOUT_MILLIS);
        return client;
    }

    /** Sends a stream that {@code seed} determines, then FIN; returns its hash. */
    private static String sendAndFinish(Socket socket, int seed) throws IOException {
        return sendAndFinish(socket, seed, STREAM_BYTES);
    }

    private static String sendAndFinish(Socket socket, int seed, int bytes) throws IOException {
        Random random = new Random(seed);
        byte[] chunk = new byte[100_003];
        MessageDigest digest = sha256();
        OutputStream out = new DigestOutputStream(socket.getOutputStream(), digest);
        for (int left = bytes; left > 0; left -= chunk.length) {
            random.nextBytes(chunk);
            out.write(chunk, 0, Math.min(left, chunk.length));
        }
        socket.shutdownOutput();
        return HexFormat.of().formatHex(digest.digest());
    }

    private static String hashUntilEnd(Socket socket) throws IOException {
        MessageDigest digest = sha256();
        InputStream in = socket.getInputStream();
        byte[] buffer = new byte[64 << 10];
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            digest.update(Arrays.copyOf(buffer, read));
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static String result(Future<String> hash)
            throws InterruptedException, ExecutionException, TimeoutException {
        return hash.get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }
}
