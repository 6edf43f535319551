package dev.tidegate.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Endpoints that answer HTTP/1.1 requests without bodies, each in its own time and in two pieces: whoever cuts a connection
 * between its request and the second piece has taken an answer from somebody. All on one thread of their own; counts may be
 * read by any thread.
 */
final class SlowAnswers implements AutoCloseable {
    static final int BODY_BYTES = 400;

    private static final int BACKLOG = 4096;
    private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Length: " + BODY_BYTES + "\r\n\r\n";
    private static final byte[] ANSWER = (HEAD + "x".repeat(BODY_BYTES)).getBytes(StandardCharsets.US_ASCII);
    private static final int FIRST_BYTES = HEAD.length() + BODY_BYTES / 2;

    private final Selector selector = Selector.open();
    private final List<InetSocketAddress> addresses = new ArrayList<>();
    private final AtomicIntegerArray open;
    private final PriorityQueue<Piece> due = new PriorityQueue<>(Comparator.comparingLong(Piece::atNanos));
    private final ByteBuffer buffer = ByteBuffer.allocate(16 << 10);
    private final Random random;
    private final long leastNanos;
    private final long mostNanos;
    private final long startNanos = System.nanoTime();
    private final Thread thread = new Thread(this::run, "endpoints");
    private volatile boolean closing; // writer: who closes

    /** Who a connection belongs to. */
    private static final class Client {
        private final int endpoint;
        private int matched; // of the blank line that ends a request
        private boolean gone;

        private Client(int endpoint) {
            this.endpoint = endpoint;
        }
    }

    /** A part of an answer, and when it is to be sent since the start. */
    private record Piece(long atNanos, SelectionKey key, int from, int to) {}

    private SlowAnswers(int endpoints, long leastMillis, long mostMillis, long seed) throws IOException {
        this.open = new AtomicIntegerArray(endpoints);
        this.random = new Random(seed);
        thread.setDaemon(true);
        this.leastNanos = leastMillis * 1_000_000;
        this.mostNanos = mostMillis * 1_000_000;
        for (int i = 0; i < endpoints; i++) {
            ServerSocketChannel server = ServerSocketChannel.open();
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
            server.configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT, i);
            addresses.add((InetSocketAddress) server.getLocalAddress());
        }
    }

    /** Starts so many endpoints, whose answers take from {@code leastMillis} to {@code mostMillis}. */
    static SlowAnswers start(int endpoints, long leastMillis, long mostMillis, long seed) throws IOException {
        SlowAnswers answers = new SlowAnswers(endpoints, leastMillis, mostMillis, seed);
        answers.thread.start();
        return answers;
    }

    List<InetSocketAddress> addresses() {
        return List.copyOf(addresses);
    }

    /** How many connections each endpoint has now. */
    int[] connections() {
        int[] now = new int[open.length()];
        for (int i = 0; i < now.length; i++) {
            now[i] = open.get(i);
        }
        return now;
    }

    private void run() {
        try {
            while (!closing) {
                long waitNanos = due.isEmpty() ? 1_000_000_000 : due.peek().atNanos() - sinceStart();
                if (waitNanos > 0) {
                    selector.select(Math.max(1, waitNanos / 1_000_000));
                } else {
                    selector.selectNow();
                }
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.attachment() instanceof Client client) {
                        read(key, client);
                    } else {
                        accept((ServerSocketChannel) key.channel(), (Integer) key.attachment());
                    }
                }
                selector.selectedKeys().clear();
                while (!due.isEmpty() && due.peek().atNanos() <= sinceStart()) {
                    send(due.poll());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the endpoints failed", e);
        }
    }

    private long sinceStart() {
        return System.nanoTime() - startNanos;
    }

    private void accept(ServerSocketChannel server, int endpoint) throws IOException {
        for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, new Client(endpoint));
            open.incrementAndGet(endpoint);
        }
    }

    private void read(SelectionKey key, Client client) throws IOException {
        try {
            buffer.clear();
            if (((SocketChannel) key.channel()).read(buffer) < 0) {
                end(key, client);
                return;
            }
        } catch (IOException reset) {
            end(key, client);
            return;
        }
        for (int i = 0; i < buffer.position(); i++) {
            byte one = buffer.get(i);
            boolean next = one == "\r\n\r\n".charAt(client.matched);
            client.matched = next ? client.matched + 1 : one == '\r' ? 1 : 0;
            if (client.matched == 4) {
                client.matched = 0;
                long now = sinceStart();
                long takes = leastNanos + (long) (random.nextDouble() * (mostNanos - leastNanos));
                due.add(new Piece(now + takes / 2, key, 0, FIRST_BYTES));
                due.add(new Piece(now + takes, key, FIRST_BYTES, ANSWER.length));
            }
        }
    }

    private void send(Piece piece) throws IOException {
        Client client = (Client) piece.key().attachment();
        if (client.gone) {
            return;
        }
        try {
            ByteBuffer bytes = ByteBuffer.wrap(ANSWER, piece.from(), piece.to() - piece.from());
            if (((SocketChannel) piece.key().channel()).write(bytes) < piece.to() - piece.from()) {
                throw new IllegalStateException("a new answer of " + BODY_BYTES + " bytes does not fit into a socket");
            }
        } catch (IOException reset) {
            end(piece.key(), client);
        }
    }

    private void end(SelectionKey key, Client client) throws IOException {
        client.gone = true;
        key.channel().close();
        open.decrementAndGet(client.endpoint);
    }

    /** Ends all connections, and waits for it. */
    @Override
    public void close() throws IOException {
        closing = true;
        selector.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the endpoints were closed", e);
        }
        if (selector.isOpen()) {
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        }
    }
}
