package dev.tidegate.real;

import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedConnection;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients and an endpoint of a protocol of their own: a request of 16 bytes (its number, how long the answer takes, in how many
 * pieces it comes), an answer of a length, the number and bytes.
 */
final class AskingCrowd {
    private static final int REQUEST_BYTES = 16;
    private static final int HEAD_BYTES = 12;
    private static final int PIECE_BYTES = 700;
    private static final int MOST_PIECES = 6;
    private static final int PIECE_GAP_MILLIS = 40;
    private static final long SEED = 11;

    /**
     * How the clients ask.
     *
     * @param clients how many, each with one connection at a time
     * @param answerMinMillis the least time that an answer takes
     * @param answerMaxMillis the most
     * @param hastyPercent how often a client asks again before a connection could be taken for quiet
     */
    record Shape(int clients, int answerMinMillis, int answerMaxMillis, int hastyPercent) {}

    /**
     * What came of it.
     *
     * @param connections opened
     * @param answered whole answers
     * @param truncated answers that ended before their end
     * @param lost requests that the endpoint had, and no byte of an answer came
     * @param crossed requests sent while the connection ended, which the endpoint has never seen
     */
    record Sums(long connections, long answered, long truncated, long lost, long crossed) {}

    private final InetSocketAddress proxy;
    private final Endpoint endpoint;
    private final Shape shape;
    private final long untilNanos;
    private final AtomicLong connections = new AtomicLong();
    private final AtomicLong answered = new AtomicLong();
    private final AtomicLong truncated = new AtomicLong();
    private final List<Integer> unanswered = new ArrayList<>(); // guarded by itself

    private AskingCrowd(InetSocketAddress proxy, Endpoint endpoint, Shape shape, Duration time) {
        this.proxy = proxy;
        this.endpoint = endpoint;
        this.shape = shape;
        this.untilNanos = System.nanoTime() + time.toNanos();
    }

    /** Answers as requests ask, and remembers which it saw. */
    record Endpoint(ScriptedBackend backend, Set<Integer> seen) implements AutoCloseable {
        @Override
        public void close() {
            backend.close();
        }
    }

    static Endpoint endpoint() {
        Set<Integer> seen = ConcurrentHashMap.newKeySet();
        return new Endpoint(ScriptedBackend.start(connection -> serve(connection, seen)), seen);
    }

    private static void serve(ScriptedConnection connection, Set<Integer> seen) throws IOException {
        while (true) {
            ByteBuffer request = ByteBuffer.wrap(connection.readExactly(REQUEST_BYTES));
            int number = request.getInt();
            int takesMillis = request.getInt();
            int pieces = request.getInt();
            seen.add(number);
            int gapsMillis = Math.min(takesMillis, (pieces - 1) * PIECE_GAP_MILLIS);
            pause(connection, takesMillis - gapsMillis);
            for (int i = 0; i < pieces; i++) {
                if (i > 0) {
                    pause(connection, gapsMillis / (pieces - 1));
                }
                ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
                if (i == 0) {
                    piece.putInt(pieces * PIECE_BYTES).putInt(number).putInt(pieces);
                }
                connection.send(piece.array());
            }
        }
    }

    /** The pace is what is played here. */
    private static void pause(ScriptedConnection connection, int millis) {
        long dueNanos = System.nanoTime() + millis * 1_000_000L;
        while (connection.isOpen() && dueNanos - System.nanoTime() > 0) {
            LockSupport.parkNanos(dueNanos - System.nanoTime());
        }
    }

    /**
     * Has clients ask for a time, and go on from there until their connections are ended.
     *
     * @throws Exception when a client met something else than an end of its connection
     */
    static Sums run(InetSocketAddress proxy, Endpoint endpoint, Shape shape, Duration time) throws Exception {
        AskingCrowd crowd = new AskingCrowd(proxy, endpoint, shape, time);
        ExecutorService executor = Executors.newFixedThreadPool(shape.clients());
        try {
            List<Future<?>> clients = new ArrayList<>();
            for (int i = 0; i < shape.clients(); i++) {
                int client = i;
                clients.add(executor.submit(() -> {
                    crowd.client(client);
                    return null;
                }));
            }
            for (Future<?> client : clients) {
                client.get();
            }
        } finally {
            executor.shutdownNow();
        }
        return crowd.sums();
    }

    private Sums sums() {
        synchronized (unanswered) {
            long lost = unanswered.stream().filter(endpoint.seen()::contains).count();
            return new Sums(connections.get(), answered.get(), truncated.get(), lost, unanswered.size() - lost);
        }
    }

    private void client(int index) throws IOException {
        Random random = new Random(SEED + index);
        int next = index * 1_000_000;
        while (System.nanoTime() - untilNanos < 0) {
            connections.getAndIncrement();
            try (Socket socket = new Socket(proxy.getAddress(), proxy.getPort())) {
                socket.setTcpNoDelay(true);
                next = askUntilEnded(socket, next, random);
            }
        }
    }

    private int askUntilEnded(Socket socket, int first, Random random) throws IOException {
        int number = first;
        DataInputStream in = new DataInputStream(socket.getInputStream());
        while (true) {
            ByteBuffer request = ByteBuffer.allocate(REQUEST_BYTES);
            int takes = random.nextInt(shape.answerMinMillis(), shape.answerMaxMillis());
            request.putInt(number).putInt(takes).putInt(1 + random.nextInt(MOST_PIECES));
            if (!answered(socket, in, number++, request.array()) || endedInRest(socket, restMillis(random))) {
                return number;
            }
        }
    }

    private boolean answered(Socket socket, DataInputStream in, int number, byte[] request) throws IOException {
        boolean begun = false;
        try {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(request);
            ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
            head.put(in.readByte());
            begun = true;
            in.readFully(head.array(), 1, HEAD_BYTES - 1);
            int length = head.getInt(0);
            if (head.getInt(Integer.BYTES) != number) {
                throw new IllegalStateException("an answer to another request: " + head.getInt(Integer.BYTES));
            }
            in.readFully(new byte[length - HEAD_BYTES]);
            answered.getAndIncrement();
            return true;
        } catch (EOFException | SocketException ended) {
            if (begun) {
                truncated.getAndIncrement();
            } else {
                synchronized (unanswered) {
                    unanswered.add(number);
                }
            }
            return false;
        }
    }

    private int restMillis(Random random) {
        return random.nextInt(100) < shape.hastyPercent() ? random.nextInt(10, 300) : random.nextInt(1_200, 5_000);
    }

    /** Rests, and looks whether the connection is ended meanwhile. */
    private static boolean endedInRest(Socket socket, int millis) throws IOException {
        try {
            socket.setSoTimeout(millis);
            if (socket.getInputStream().read() >= 0) {
                throw new IllegalStateException("bytes that nobody asked for");
            }
            return true;
        } catch (SocketTimeoutException rested) {
            return false;
        }
    }
}
