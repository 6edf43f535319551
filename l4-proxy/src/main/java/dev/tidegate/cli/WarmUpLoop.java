package dev.tidegate.cli;

import dev.tidegate.lifetime.Ticker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Both ends of a warm-up: two endpoints, and clients that come one after another, a few at a time. On plain sockets of the
 * JDK, which share no code with what is warmed: that is to be compiled for what it does, and not for what its peers would
 * do in the same classes.
 *
 * <p>Confined to the thread that calls it, save {@link #stop}.
 */
final class WarmUpLoop implements AutoCloseable {
    /** As few as keep every thread at work: each takes four descriptors, which somebody may have little of. */
    private static final int CLIENTS = 8;

    private static final int ENDPOINTS = 2;
    private static final int BACKLOG = 128;
    private static final int BUFFER_BYTES = 16 << 10;
    private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long WAIT_MILLIS = 10;

    /** A window is no faster that is not by a tenth; so many of them, and it has come to where it stays. */
    private static final double FASTER = 1.1;

    private static final int WINDOWS_NO_FASTER = 5;

    /** Before so many have come to their end, there is nothing to compare: a machine may be that busy. */
    private static final int CONNECTIONS_LEAST = 100;

    /** A peer that is cut off now and then is part of the plan; more is not. */
    private static final int FAILURES_MAX = 50;

    private final Ticker ticker;
    private final Selector selector;
    private final List<ServerSocketChannel> endpoints = new ArrayList<>();
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer bulk = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private volatile boolean stopped; // writer: whoever stops it
    private InetSocketAddress longLived;
    private InetSocketAddress shortLived;
    private int bulkLast; // where the last byte of all may be written down
    private int clients;
    private int begun;
    private long answers;
    private int ended;
    private int retired;
    private int failures;
    private IOException lastFailure;

    /**
     * Opens the endpoints.
     *
     * @param ticker monotonic time
     * @throws IOException when a socket cannot be had
     */
    WarmUpLoop(Ticker ticker) throws IOException {
        this.ticker = ticker;
        selector = Selector.open();
        try {
            for (int i = 0; i < ENDPOINTS; i++) {
                ServerSocketChannel endpoint = ServerSocketChannel.open();
                endpoints.add(endpoint);
                endpoint.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0), BACKLOG);
                endpoint.configureBlocking(false);
                endpoint.register(selector, SelectionKey.OP_ACCEPT);
            }
        } catch (IOException failed) {
            close();
            throw failed;
        }
    }

    /** Where the endpoints are. */
    List<InetSocketAddress> endpoints() throws IOException {
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (ServerSocketChannel endpoint : endpoints) {
            addresses.add((InetSocketAddress) endpoint.getLocalAddress());
        }
        return addresses;
    }

    /** Ends {@link #run} soon. Any thread. */
    void stop() {
        stopped = true;
        selector.wakeup();
    }

    /**
     * Sends clients there until it gets no faster, time is over or it is stopped.
     *
     * @param longLived a listener behind which connections last
     * @param shortLived one behind which they come to a limit
     * @param endNanos by the ticker
     * @throws IOException when too many of them fare badly
     */
    void run(InetSocketAddress longLived, InetSocketAddress shortLived, long endNanos) throws IOException {
        this.longLived = longLived;
        this.shortLived = shortLived;
        long best = 0;
        int noFaster = 0;
        long before = 0;
        long windowEnd = ticker.nanoTime() + WINDOW_NANOS;
        long now = ticker.nanoTime();
        while (!stopped && noFaster < WINDOWS_NO_FASTER && now - endNanos < 0) {
            turn();
            now = ticker.nanoTime();
            if (now - windowEnd >= 0) {
                long done = answers - before;
                before = answers;
                windowEnd = now + WINDOW_NANOS;
                noFaster = done > best * FASTER || ended < CONNECTIONS_LEAST ? 0 : noFaster + 1;
                best = Math.max(best, done);
            }
        }
        if (ended == 0 && !stopped) {
            throw new IOException("no connection over loopback came to its end in time", lastFailure);
        }
    }

    private void turn() throws IOException {
        // No more of them before the next look, which also lets go of what has failed at once.
        for (int missing = CLIENTS - clients; missing > 0; missing--) {
            openClient();
        }
        selector.select(this::ready, WAIT_MILLIS);
        if (failures > FAILURES_MAX) {
            throw new IOException("connections over loopback fail: " + lastFailure.getMessage(), lastFailure);
        }
    }

    private void openClient() throws IOException {
        WarmUpTalk[] talks = WarmUpTalk.values();
        int index = begun++;
        WarmUpTalk talk = talks[index % talks.length];
        boolean isShort = index / talks.length % 4 == 3;
        new WarmUpClient(this, talk, isShort, index).open(isShort ? shortLived : longLived);
    }

    private void ready(SelectionKey key) {
        if (!(key.attachment() instanceof WarmUpPeer peer)) {
            accept((ServerSocketChannel) key.channel());
            return;
        }
        try {
            peer.ready(key);
        } catch (IOException broken) {
            peer.broken(broken);
        } catch (CancelledKeyException closed) {
            peer.close(); // by what it did itself a moment ago
        }
    }

    private void accept(ServerSocketChannel endpoint) {
        try {
            SocketChannel channel = endpoint.accept();
            if (channel != null) {
                new WarmUpEndpoint(this).accepted(channel);
            }
        } catch (IOException failed) {
            failed(failed);
        }
    }

    // --- what peers tell
    // ------------------------------------------------------------------------------------------------

    Selector selector() {
        return selector;
    }

    /** A buffer for one read, empty; what is in it is over with the next call. */
    ByteBuffer scratch() {
        return scratch.clear();
    }

    /** Some of so many bytes that are still to be written; the last of all is {@link WarmUpTalk#LAST}. */
    ByteBuffer bulk(int left) {
        bulk.clear().put(bulkLast, (byte) 0);
        bulkLast = Math.min(left, BUFFER_BYTES) - 1;
        bulk.put(bulkLast, left <= BUFFER_BYTES ? WarmUpTalk.LAST : 0);
        return bulk.limit(bulkLast + 1);
    }

    void clientOpened() {
        clients++;
    }

    void clientClosed() {
        clients--;
    }

    /** A connection has come to the end that was planned. */
    void ended(boolean byRetirement) {
        ended++;
        retired += byRetirement ? 1 : 0;
    }

    void answered() {
        answers++;
    }

    void failed(IOException cause) {
        failures++;
        lastFailure = cause;
    }

    /** Connections that came to the end that was planned for them, so far. */
    int ended() {
        return ended;
    }

    /** Of them, those that the proxy ended. */
    int retired() {
        return retired;
    }

    /** Connections that failed, so far. */
    int failures() {
        return failures;
    }

    /** Closes all that is open. */
    @Override
    public void close() throws IOException {
        for (SelectionKey key : List.copyOf(selector.keys())) {
            key.channel().close();
        }
        for (ServerSocketChannel endpoint : endpoints) {
            endpoint.close(); // one that was never registered
        }
        selector.close();
    }
}
