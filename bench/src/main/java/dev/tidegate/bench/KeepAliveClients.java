package dev.tidegate.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * HTTP/1.1 clients that each keep one connection, ask, wait for the answer, think, and ask again; a connection that ends is
 * followed by another at once. A request that was sent and has no whole answer when its connection ends is failed: nothing
 * is sent twice. All on one thread of their own; {@link #counts} may be asked by any thread.
 */
final class KeepAliveClients implements AutoCloseable {
    private static final byte[] REQUEST = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Selector selector = Selector.open();
    private final ByteBuffer buffer = ByteBuffer.allocate(16 << 10);
    private final PriorityQueue<Client> waiting =
            new PriorityQueue<>(Comparator.comparingLong(client -> client.atNanos));
    private final Random random;
    private final InetSocketAddress address;
    private final long thinkNanos;
    private final long startNanos = System.nanoTime();
    private final Thread thread = new Thread(this::run, "clients");
    private volatile boolean closing; // writer: who closes
    private volatile Counts counts = new Counts(0, 0, 0, 0, 0); // writer: this thread
    private volatile Throwable fault; // writer: this thread

    /**
     * What happened so far.
     *
     * @param answered requests answered whole
     * @param failed requests sent and not answered whole
     * @param told ends of which an answer had told
     * @param silent ends between two requests, by FIN
     * @param refused connects that failed
     */
    record Counts(long answered, long failed, long told, long silent, long refused) {}

    private enum State {
        AWAY,
        CONNECTING,
        THINKING,
        ASKING
    }

    private static final class Client {
        private State state = State.AWAY;
        private SelectionKey key;
        private long atNanos; // since the start: when it does the next thing by itself
        private final StringBuilder answer = new StringBuilder();
    }

    private KeepAliveClients(InetSocketAddress address, int clients, long openingMillis, long thinkMillis, long seed)
            throws IOException {
        this.address = address;
        this.thinkNanos = thinkMillis * 1_000_000;
        this.random = new Random(seed);
        thread.setDaemon(true);
        for (int i = 0; i < clients; i++) {
            Client client = new Client();
            client.atNanos = openingMillis * 1_000_000 * i / clients;
            waiting.add(client);
        }
    }

    /** Starts so many, who come over a time and think for {@code thinkMillis} on average. */
    static KeepAliveClients start(
            InetSocketAddress address, int clients, long openingMillis, long thinkMillis, long seed)
            throws IOException {
        KeepAliveClients all = new KeepAliveClients(address, clients, openingMillis, thinkMillis, seed);
        all.thread.start();
        return all;
    }

    /** Throws when the clients have failed of themselves. */
    Counts counts() {
        if (fault != null) {
            throw new IllegalStateException("the clients failed", fault);
        }
        return counts;
    }

    private void run() {
        try {
            while (!closing) {
                long waitNanos = waiting.isEmpty() ? 1_000_000_000 : waiting.peek().atNanos - sinceStart();
                if (waitNanos > 0) {
                    selector.select(Math.max(1, waitNanos / 1_000_000));
                } else {
                    selector.selectNow();
                }
                // First what has come: who sees that its connection has ended does not ask on it.
                for (SelectionKey key : selector.selectedKeys()) {
                    look((Client) key.attachment());
                }
                selector.selectedKeys().clear();
                for (int i = 0; i < 100 && !waiting.isEmpty() && waiting.peek().atNanos <= sinceStart(); i++) {
                    act(waiting.poll());
                }
            }
        } catch (IOException | RuntimeException e) {
            fault = e;
        }
    }

    private long sinceStart() {
        return System.nanoTime() - startNanos;
    }

    private void act(Client client) throws IOException {
        if (client.state == State.AWAY) {
            connect(client);
        } else if (client.state == State.THINKING) {
            client.state = State.ASKING;
            client.answer.setLength(0);
            try {
                if (channel(client).write(ByteBuffer.wrap(REQUEST)) < REQUEST.length) {
                    throw new IllegalStateException("a request does not fit into an empty socket");
                }
            } catch (IOException reset) {
                ended(client);
            }
        }
    }

    private static SocketChannel channel(Client client) {
        return (SocketChannel) client.key.channel();
    }

    private void connect(Client client) throws IOException {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        client.key = channel.register(selector, 0, client);
        client.state = State.CONNECTING;
        if (channel.connect(address)) {
            connected(client);
        } else {
            client.key.interestOps(SelectionKey.OP_CONNECT);
        }
    }

    private void connected(Client client) {
        client.key.interestOps(SelectionKey.OP_READ);
        think(client);
    }

    private void think(Client client) {
        client.state = State.THINKING;
        client.atNanos = sinceStart() + (long) (thinkNanos * (0.5 + random.nextDouble()));
        waiting.add(client);
    }

    private void look(Client client) throws IOException {
        try {
            if (client.state == State.CONNECTING) {
                channel(client).finishConnect();
                connected(client);
                return;
            }
            buffer.clear();
            int count = channel(client).read(buffer);
            if (count < 0) {
                ended(client);
                return;
            }
        } catch (IOException resetOrRefused) {
            ended(client);
            return;
        }
        if (client.state != State.ASKING) {
            throw new IllegalStateException("bytes that nobody asked for");
        }
        client.answer.append(new String(buffer.array(), 0, buffer.position(), StandardCharsets.ISO_8859_1));
        int headEnd = client.answer.indexOf("\r\n\r\n");
        if (headEnd >= 0 && client.answer.length() == headEnd + 4 + SlowAnswers.BODY_BYTES) {
            answered(client, client.answer.substring(0, headEnd).toLowerCase(Locale.ROOT));
        }
    }

    private void answered(Client client, String head) throws IOException {
        if (head.contains("\r\nconnection: close")) {
            count(1, 0, 1, 0, 0);
            again(client);
        } else {
            count(1, 0, 0, 0, 0);
            think(client);
        }
    }

    private void ended(Client client) throws IOException {
        switch (client.state) {
            case ASKING -> count(0, 1, 0, 0, 0);
            case THINKING -> {
                count(0, 0, 0, 1, 0);
                waiting.remove(client);
            }
            case CONNECTING -> count(0, 0, 0, 0, 1);
            case AWAY -> throw new IllegalStateException("an end of nothing");
        }
        again(client);
    }

    private void again(Client client) throws IOException {
        client.key.channel().close();
        connect(client);
    }

    private void count(int answered, int failed, int told, int silent, int refused) {
        Counts now = counts;
        counts = new Counts(
                now.answered + answered,
                now.failed + failed,
                now.told + told,
                now.silent + silent,
                now.refused + refused);
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
            throw new IOException("interrupted while the clients were closed", e);
        }
        if (selector.isOpen()) {
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        }
    }
}
