package dev.tidegate.cli;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clients and endpoints on one thread, many at a time. Short connections begin at a fixed rate whether those before them
 * have ended or not: a connect, a small request and its echo, a FIN each way. Long ones stay and talk now and then. What
 * goes wrong with one is kept, in words.
 *
 * <p>Counts may be read by any thread.
 */
final class OpenLoop implements AutoCloseable {
    private static final int REQUEST_BYTES = 64;
    /** Clients come from so many addresses, lest source ports run out. */
    private static final int SOURCES = 64;

    /** Where the machine is too busy to serve them as they arrive, the next ones wait: descriptors are not to run out. */
    private static final int CLIENTS_MAX = 1_000;

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(15);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long TALK_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int BACKLOG = 1_024;

    private final Selector selector = Selector.open();
    private final Thread thread = new Thread(this::run, "open-loop");
    private final Queue<Runnable> asked = new ConcurrentLinkedQueue<>();
    private final List<String> failures = new ArrayList<>(); // guarded by itself
    private final AtomicLong opened = new AtomicLong();
    private final AtomicLong served = new AtomicLong();
    private final AtomicLong exchanges = new AtomicLong();
    private final AtomicInteger longOnes = new AtomicInteger();
    private final Set<Client> clients = new LinkedHashSet<>(); // on the thread
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(4_096); // on the thread
    private InetSocketAddress target; // on the thread; null: no short connections
    private long nanosEach;
    private long dueNanos;
    private long lookNanos = System.nanoTime();
    private volatile boolean over; // writer: whoever closes

    private OpenLoop() throws IOException {}

    static OpenLoop start() throws IOException {
        OpenLoop loop = new OpenLoop();
        loop.thread.start();
        return loop;
    }

    /** An endpoint that sends back what comes, until FIN; where it listens. */
    InetSocketAddress endpoint() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        server.configureBlocking(false);
        ask(() -> register(server, SelectionKey.OP_ACCEPT, key -> accept(server)));
        return (InetSocketAddress) server.getLocalAddress();
    }

    /** So many connections that stay. */
    void open(InetSocketAddress where, int howMany) {
        ask(() -> {
            for (int i = 0; i < howMany; i++) {
                begin(where, i, true);
            }
        });
    }

    /** From now on so many short connections a second. */
    void arrive(InetSocketAddress where, int perSecond) {
        ask(() -> {
            nanosEach = TimeUnit.SECONDS.toNanos(1) / perSecond;
            dueNanos = System.nanoTime();
            target = where;
        });
    }

    /** Begins no more short connections; those there go on to their ends. */
    void arriveNoMore() {
        ask(() -> target = null);
    }

    /** Has the long ones talk once more, and then end as the short ones do. */
    void endLongOnes() {
        ask(() -> List.copyOf(clients).forEach(Client::talkAndEnd));
    }

    /** Short connections begun. */
    long opened() {
        return opened.get();
    }

    /** Short connections that were served whole and ended by a FIN each way. */
    long served() {
        return served.get();
    }

    /** Long connections that have had an answer and are still there. */
    int longOnes() {
        return longOnes.get();
    }

    /** Requests of long connections that were answered. */
    long exchanges() {
        return exchanges.get();
    }

    /** What went wrong, all of it. */
    List<String> failures() {
        synchronized (failures) {
            return List.copyOf(failures);
        }
    }

    private void ask(Runnable task) {
        asked.add(task);
        selector.wakeup();
    }

    // ---- on the thread

    /** What a channel does when it is ready. */
    private interface Ready {
        void on(SelectionKey key) throws IOException;
    }

    private void run() {
        try {
            while (!over) {
                selector.select(
                        this::onReady, target == null ? TimeUnit.NANOSECONDS.toMillis(LOOK_NANOS) : millisToNext());
                for (Runnable task = asked.poll(); task != null; task = asked.poll()) {
                    task.run();
                }
                beginDue();
                look();
            }
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        } catch (IOException | RuntimeException e) {
            fail("the loop itself", e);
        }
    }

    private void onReady(SelectionKey key) {
        try {
            ((Ready) key.attachment()).on(key);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long millisToNext() {
        return Math.max(1, TimeUnit.NANOSECONDS.toMillis(dueNanos - System.nanoTime()));
    }

    /** However late the thread is: all that are due, as far as there is room. */
    private void beginDue() {
        while (target != null && System.nanoTime() - dueNanos >= 0 && clients.size() < CLIENTS_MAX) {
            begin(target, (int) (opened.getAndIncrement() % SOURCES), false);
            dueNanos += nanosEach;
        }
    }

    private void look() {
        long now = System.nanoTime();
        if (now - lookNanos < LOOK_NANOS) {
            return;
        }
        lookNanos = now;
        for (Client client : List.copyOf(clients)) {
            client.look(now);
        }
    }

    private void register(SelectableChannel channel, int operations, Ready ready) {
        try {
            channel.register(selector, operations, ready);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept(ServerSocketChannel server) throws IOException {
        for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
            SocketChannel accepted = channel;
            accepted.configureBlocking(false);
            register(accepted, SelectionKey.OP_READ, key -> echo(accepted));
        }
    }

    private void echo(SocketChannel channel) throws IOException {
        try {
            buffer.clear();
            int count = channel.read(buffer);
            buffer.flip();
            while (buffer.hasRemaining()) {
                channel.write(buffer); // a few bytes at a time: there is room in the socket
            }
            if (count < 0) {
                channel.close();
            }
        } catch (IOException e) {
            fail("an endpoint's connection", e);
            channel.close();
        }
    }

    private void fail(String whose, Exception why) {
        synchronized (failures) {
            failures.add(whose + ": " + why);
        }
    }

    private void begin(InetSocketAddress where, int source, boolean stays) {
        Client client = new Client(stays);
        clients.add(client);
        client.connect(where, source % SOURCES);
    }

    /** One client. It has sent a request for which an answer is owed, or rests, or has sent its FIN. */
    private final class Client implements Ready {
        private final boolean stays;
        private final SocketChannel channel;
        private long sinceNanos = System.nanoTime(); // it last sent something, or began
        private int owed;
        private int answered;
        private boolean ending;

        Client(boolean stays) {
            this.stays = stays;
            try {
                this.channel = SocketChannel.open();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void connect(InetSocketAddress where, int source) {
            try {
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.bind(new InetSocketAddress(
                        InetAddress.getByAddress(new byte[] {127, 0, 1, (byte) (1 + source)}), 0));
                boolean connected = channel.connect(where);
                register(channel, connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, this);
                if (connected) {
                    send();
                }
            } catch (IOException e) {
                broken(e);
            }
        }

        @Override
        public void on(SelectionKey key) {
            try {
                if (key.isConnectable()) {
                    channel.finishConnect();
                    key.interestOps(SelectionKey.OP_READ);
                    send();
                } else {
                    read();
                }
            } catch (IOException e) {
                broken(e);
            }
        }

        private void send() throws IOException {
            ByteBuffer request = ByteBuffer.allocate(REQUEST_BYTES);
            sinceNanos = System.nanoTime();
            owed += REQUEST_BYTES;
            channel.write(request);
            if (request.hasRemaining()) {
                throw new IOException("there was no room for " + REQUEST_BYTES + " bytes");
            }
        }

        private void read() throws IOException {
            buffer.clear();
            int count = channel.read(buffer);
            if (count < 0) {
                if (!ending || owed > 0) {
                    throw new EOFException("ended early, owed bytes " + owed);
                }
                gone();
                served.addAndGet(stays ? 0 : 1);
                return;
            }
            owed -= count;
            if (owed == 0 && !ending) {
                onAnswer();
            }
        }

        private void onAnswer() throws IOException {
            answered++;
            if (!stays) {
                end();
                return;
            }
            exchanges.incrementAndGet();
            if (answered == 1) {
                longOnes.incrementAndGet();
            }
        }

        private void end() throws IOException {
            ending = true;
            sinceNanos = System.nanoTime();
            channel.shutdownOutput();
        }

        void look(long now) {
            boolean waits = owed > 0 || ending || answered == 0;
            try {
                if (waits && now - sinceNanos > PATIENCE_NANOS) {
                    throw new IOException("nothing came for 15 s, owed bytes " + owed + ", ending " + ending);
                } else if (!waits && now - sinceNanos > TALK_NANOS) {
                    send();
                }
            } catch (IOException e) {
                broken(e);
            }
        }

        void talkAndEnd() {
            try {
                if (stays && !ending) {
                    send();
                    end();
                }
            } catch (IOException e) {
                broken(e);
            }
        }

        private void broken(IOException why) {
            fail(stays ? "a long connection" : "a short connection", why);
            try {
                gone();
            } catch (IOException e) {
                fail("its close", e);
            }
        }

        private void gone() throws IOException {
            if (stays && answered > 0) {
                longOnes.decrementAndGet();
            }
            clients.remove(this);
            channel.close();
        }
    }

    @Override
    public void close() {
        over = true;
        selector.wakeup();
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
