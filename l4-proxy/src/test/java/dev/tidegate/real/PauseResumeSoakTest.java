package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.Side;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.telemetry.WorkerCounters;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.SeededStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;

/**
 * Reading is paused and resumed very many times on connections that stream both ways, while their readers stop and go at
 * random: no byte is lost, changed or stuck.
 *
 * <p>A round is one pause of reading from one side, as the proxy counts them.
 */
class PauseResumeSoakTest {
    private static final int CONNECTIONS = 50;
    private static final int CHUNK_BYTES = 32 * Bytes.KIB;
    /** Small, so that back-pressure reaches the proxy soon. */
    private static final int RECEIVE_BUFFER_BYTES = 16 * Bytes.KIB;

    private static final int SEND_BUFFER_BYTES = 16 * Bytes.KIB;

    /** For each connection: the watermark, a turn of reads, and the kernel's small buffers. */
    private static final long MOST_HELD_BYTES = 512 * Bytes.KIB;

    private static final Duration BOUND = Duration.ofMinutes(20);

    private final long seed = 20_261_129;
    private final Map<Long, String> sentByEndpoints = new ConcurrentHashMap<>();
    private final Map<Long, String> receivedByEndpoints = new ConcurrentHashMap<>();
    private volatile boolean enough; // writer: the test's thread

    @EachTransport
    @Tag("slow")
    void fiveHundredRoundsLoseNothing(Wish transport) throws Exception {
        soak(transport, 500);
    }

    @EachTransport
    @Tag("nightly")
    void hundredThousandRoundsLoseNothing(Wish transport) throws Exception {
        soak(transport, 100_000);
    }

    private void soak(Wish transport, long rounds) throws Exception {
        var buffers = ScriptedBackend.Options.DEFAULT.withReceiveBuffer(RECEIVE_BUFFER_BYTES);
        try (var backend = ScriptedBackend.start(buffers, this::streamAsEndpoint);
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .workers(2)
                        .sendBuffers(SEND_BUFFER_BYTES)
                        .start()) {
            List<FutureTask<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                long connection = i;
                clients.add(inBackground("client-" + i, () -> streamAsClient(proxy, connection)));
            }
            long[] mostHeldBytes = {0};
            Await.until(rounds + " pauses", BOUND, () -> {
                mostHeldBytes[0] = Math.max(mostHeldBytes[0], heldBytes(proxy, backend));
                return pauses(proxy) >= rounds || anyDone(clients);
            });
            enough = true;
            for (FutureTask<Void> client : clients) {
                client.get();
            }
            backend.awaitAllDone();
            proxy.awaitNoConnections();

            assertTrue(pauses(proxy) >= rounds, pauses(proxy) + " pauses, seed " + seed);
            assertTrue(pauses(proxy, Side.DOWNSTREAM) > rounds / 10, "pauses of reading from clients");
            assertTrue(pauses(proxy, Side.UPSTREAM) > rounds / 10, "pauses of reading from endpoints");
            assertTrue(
                    mostHeldBytes[0] < CONNECTIONS * MOST_HELD_BYTES,
                    mostHeldBytes[0] + " bytes were read that endpoints had not got yet");
            assertEquals(CONNECTIONS, proxy.closed());
            assertEquals(
                    backend.connections().stream()
                            .mapToLong(ScriptedPeer::bytesReceived)
                            .sum(),
                    proxy.sum(row -> row.receivedBytes));
            assertEquals(
                    backend.connections().stream()
                            .mapToLong(ScriptedPeer::bytesSent)
                            .sum(),
                    proxy.sum(row -> row.sentBytes));
        }
    }

    /** Bytes read from clients that endpoints have not read: what the proxy holds, and the kernel on the way there. */
    private static long heldBytes(ProxyFixture proxy, ScriptedBackend backend) {
        long read = proxy.sum(row -> row.receivedBytes);
        return read
                - backend.connections().stream()
                        .mapToLong(ScriptedPeer::bytesReceived)
                        .sum();
    }

    /** A client that fails ends early, and with it the wait for pauses. */
    private static boolean anyDone(List<FutureTask<Void>> clients) {
        return clients.stream().anyMatch(FutureTask::isDone);
    }

    private static long pauses(ProxyFixture proxy) {
        return pauses(proxy, Side.DOWNSTREAM) + pauses(proxy, Side.UPSTREAM);
    }

    private static long pauses(ProxyFixture proxy, Side side) {
        return proxy.proxy().counters().stream()
                .mapToLong((WorkerCounters counters) -> counters.paused(side))
                .sum();
    }

    private Void streamAsClient(ProxyFixture proxy, long connection) throws Exception {
        var options = ScriptedClient.Options.DEFAULT
                .withReceiveBuffer(RECEIVE_BUFFER_BYTES)
                .withBound(Duration.ofSeconds(60));
        try (ScriptedClient client = ScriptedClient.connect(proxy.address(), options)) {
            client.send(ByteBuffer.allocate(Long.BYTES).putLong(connection).array());
            FutureTask<String> sending = inBackground("client-sends-" + connection, () -> send(client, 2 * connection));
            String received = receive(client, 2 * connection);
            String sent = sending.get();

            Await.until(
                    "the endpoint of connection " + connection + " is done",
                    () -> receivedByEndpoints.containsKey(connection));
            assertEquals(sentByEndpoints.get(connection), received, "down, connection " + connection);
            assertEquals(sent, receivedByEndpoints.get(connection), "up, connection " + connection);
        }
        return null;
    }

    private void streamAsEndpoint(ScriptedPeer peer) throws IOException {
        long connection = ByteBuffer.wrap(peer.readExactly(Long.BYTES)).getLong();
        FutureTask<String> sending = inBackground("endpoint-sends-" + connection, () -> send(peer, 2 * connection + 1));
        String received = receive(peer, 2 * connection + 1);
        sentByEndpoints.put(connection, resultOf(sending));
        receivedByEndpoints.put(connection, received);
    }

    /** Sends until it is enough, then FIN; the hash of what was sent. */
    private String send(ScriptedPeer peer, long stream) throws IOException {
        MessageDigest hash = Bytes.sha256();
        SeededStream bytes = new SeededStream(seed + stream);
        byte[] chunk = new byte[CHUNK_BYTES];
        while (!enough) {
            bytes.fill(chunk, 0, chunk.length);
            hash.update(chunk);
            peer.send(chunk);
        }
        peer.shutdownOutput();
        return Bytes.hex(hash.digest());
    }

    /** Reads to the end, stopping for a moment now and then; the hash of what was read. */
    private String receive(ScriptedPeer peer, long stream) throws IOException {
        RandomGenerator random =
                RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(seed + stream);
        MessageDigest hash = Bytes.sha256();
        byte[] chunk = new byte[2 * CHUNK_BYTES];
        while (true) {
            int count = peer.read(chunk);
            if (count < 0) {
                return Bytes.hex(hash.digest());
            }
            hash.update(chunk, 0, count);
            if (!enough && random.nextInt(8) == 0) {
                // The back-pressure itself, not a wait for anything.
                LockSupport.parkNanos(random.nextLong(3_000_000));
            }
        }
    }

    private static String resultOf(FutureTask<String> task) throws IOException {
        try {
            return task.get();
        } catch (ExecutionException failed) {
            throw new IOException("sending failed", failed.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", stopped);
        }
    }

    private static <T> FutureTask<T> inBackground(String name, Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future, name);
        thread.setDaemon(true);
        thread.start();
        return future;
    }
}
