package dev.tidegate.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The load and the backend it is meant for, on one plain NIO loop: nothing here is shared with what is measured, and one
 * thread on one core takes the least from it. Confined to the thread that calls it, save {@link #wakeUp}.
 */
final class LoadLoop implements AutoCloseable {
    /** The most responses that are written at once. */
    static final int HTTP_RESPONSES_MAX = 64;

    static final int MESSAGE_BYTES = 64;

    /** Small enough to stay in the cache, large enough for few calls. */
    private static final int BUFFER_BYTES = 32 << 10;

    private static final int BACKLOG = 4096;
    private static final int ACCEPTS_PER_TURN = 64;
    /** Connects under way at once while connections are held, so that no SYN queue overflows. */
    private static final int HOLD_CONNECTING_MAX = 64;

    private static final long FINISH_NANOS = 10_000_000_000L;
    private static final long ARRIVE_PAUSE_NANOS = 50_000L;
    private static final long NANOS_PER_MILLI = 1_000_000L;

    private final Selector selector;
    private final ServerSocketChannel backend;
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer bulk = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
    private final ByteBuffer httpRequest = repeated("GET / HTTP/1.1\r\nHost: bench\r\n", 1);
    private final ByteBuffer httpResponses = repeated("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", HTTP_RESPONSES_MAX);
    private final Consumer<SelectionKey> dispatch = LoadLoop::dispatch;
    private final InetAddress[] sources;
    private int nextSource;
    private long echoedBytes;
    private long streamedBytes;
    private long sunkBytes;
    private LoadRun held;
    private Busy busy;

    /** Opens the backend on 127.0.0.1 at {@code backendPort}; 0: any free one. */
    LoadLoop(int backendPort) throws IOException {
        this(new InetSocketAddress(InetAddress.getLoopbackAddress(), backendPort));
    }

    /** The same on every address of 127.0.0.0/8. The kernel has only all addresses for that: what comes from outside is shut. */
    static LoadLoop everywhere(int backendPort) throws IOException {
        return new LoadLoop(new InetSocketAddress(backendPort));
    }

    private LoadLoop(InetSocketAddress listen) throws IOException {
        selector = Selector.open();
        backend = ServerSocketChannel.open();
        backend.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        backend.bind(listen, BACKLOG);
        backend.configureBlocking(false);
        backend.register(selector, SelectionKey.OP_ACCEPT, new Acceptor());
        message.put(0, BackendConnection.ECHO);
        sources = new InetAddress[254];
        for (int i = 0; i < sources.length; i++) {
            sources[i] = InetAddress.getByAddress(new byte[] {127, 0, 1, (byte) (i + 1)});
        }
    }

    InetSocketAddress backendAddress() throws IOException {
        int port = ((InetSocketAddress) backend.getLocalAddress()).getPort();
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Serves the backend until {@code done}, which is looked at whenever something happened or {@link #wakeUp} was called. */
    void serveUntil(BooleanSupplier done) throws IOException {
        while (!done.getAsBoolean()) {
            selector.select(dispatch);
        }
    }

    /** May be called from any thread. */
    void wakeUp() {
        selector.wakeup();
    }

    /** Loads the target as {@code spec} says, and returns when the last connection has ended. */
    LoadResult run(LoadSpec spec) throws IOException {
        long echoedBefore = echoedBytes;
        long streamedBefore = streamedBytes;
        long sunkBefore = sunkBytes;
        LoadRun run = new LoadRun(spec);
        int atOnce = spec.scenario().arrives() ? 0 : spec.connections();
        for (int i = 0; i < atOnce; i++) {
            LoadClient client = newClient(run);
            run.clients().add(client);
            client.open();
        }
        Pacer pacer = spec.scenario().paced() ? new Pacer(run) : null;
        long startNanos = System.nanoTime();
        pump(run, pacer, startNanos + spec.settle().toNanos());
        long windowStartNanos = System.nanoTime();
        run.window(windowStartNanos, windowStartNanos + spec.window().toNanos());
        long cpuBefore = cpuMicros(spec.pid());
        long countBefore = run.count();
        if (spec.scenario().arrives()) {
            arrive(run, windowStartNanos);
        }
        pump(run, pacer, windowStartNanos + spec.window().toNanos());
        long count = run.count() - countBefore;
        long cpu = cpuMicros(spec.pid()) - cpuBefore;
        long windowNanos = System.nanoTime() - windowStartNanos;
        finish(run);
        long backendCount =
                switch (spec.scenario()) {
                    case SMALL, HTTP1, CONNECT, ARRIVE, BURST, LATENCY, MIXED ->
                        (echoedBytes - echoedBefore) / MESSAGE_BYTES;
                    case BULK -> streamedBytes - streamedBefore;
                    case UPLOAD -> sunkBytes - sunkBefore - spec.connections(); // one byte each said what it is
                };
        if (backendCount != run.count()) {
            run.failed("the clients counted " + run.count() + ", the backend " + backendCount);
        }
        if (spec.scenario() == Scenario.MIXED && streamedBytes - streamedBefore != run.streamed()) {
            run.failed("the clients read " + run.streamed() + " bytes of streams, the backend wrote "
                    + (streamedBytes - streamedBefore));
        }
        return new LoadResult(
                count,
                run.count(),
                windowNanos,
                spec.pid() == 0 ? -1 : cpu,
                run.latency().getValueAtPercentile(50),
                run.latency().getValueAtPercentile(99),
                run.errors(),
                run.firstError());
    }

    /**
     * Opens idle connections until {@code spec.connections()} are held, each proved with one message; the result counts
     * them. They stay until {@link #release}.
     */
    LoadResult hold(LoadSpec spec) throws IOException {
        if (held == null) {
            held = new LoadRun(spec);
        }
        LoadRun run = held;
        if (run.isBusy()) {
            throw new IOException("what is held is busy; more is held only beside what is idle");
        }
        long startNanos = System.nanoTime();
        long deadlineNanos = startNanos + spec.connections() * NANOS_PER_MILLI + FINISH_NANOS;
        while (run.count() < spec.connections() && !run.isHopeless() && System.nanoTime() - deadlineNanos < 0) {
            while (run.clients().size() < spec.connections()
                    && run.clients().size() - run.count() < HOLD_CONNECTING_MAX) {
                EchoClient client = new EchoClient(this, run, EchoClient.Pace.HELD);
                run.clients().add(client);
                client.open();
            }
            selector.select(dispatch, 10);
        }
        if (run.open() != spec.connections() || run.count() != spec.connections()) {
            run.failed(run.open() + " connections are open, " + run.count() + " were answered, " + spec.connections()
                    + " were asked for");
        }
        return new LoadResult(
                run.open(), run.count(), System.nanoTime() - startNanos, -1, 0, 0, run.errors(), run.firstError());
    }

    /**
     * Has every held connection exchange messages, the next one at each answer, until {@link #idle}. They do while anything of
     * this loop runs, {@link #serveUntil} included; the result counts connections.
     */
    LoadResult busy() throws IOException {
        LoadRun run = held();
        if (run.isBusy()) {
            throw new IOException("what is held is busy already");
        }
        run.busy(true);
        busy = new Busy(System.nanoTime(), run.exchangedMessages(), echoedBytes);
        heldClients(run).forEach(EchoClient::exchange);
        return heldResult(run, run.open(), 0);
    }

    /** Ends what {@link #busy} began, and waits for the last answers; the result counts the messages of all connections. */
    LoadResult idle() throws IOException {
        LoadRun run = held();
        if (!run.isBusy()) {
            throw new IOException("what is held is idle already");
        }
        run.busy(false);
        long nanos = System.nanoTime() - busy.sinceNanos();
        long deadlineNanos = System.nanoTime() + FINISH_NANOS;
        long owed = owed(run);
        while (owed > 0 && System.nanoTime() - deadlineNanos < 0) {
            selector.select(dispatch, 10);
            owed = owed(run);
        }
        long messages = run.exchangedMessages() - busy.messagesBefore();
        long backendCount = (echoedBytes - busy.echoedBefore()) / MESSAGE_BYTES;
        if (owed > 0) {
            run.failed(owed + " of " + run.open() + " held connections wait for an answer");
        } else if (backendCount != messages) {
            run.failed("held connections counted " + messages + ", the backend " + backendCount);
        }
        return heldResult(run, messages, nanos);
    }

    private LoadRun held() throws IOException {
        if (held == null) {
            throw new IOException("no connections are held");
        }
        return held;
    }

    private static List<EchoClient> heldClients(LoadRun run) {
        return run.clients().stream().map(EchoClient.class::cast).toList();
    }

    private static long owed(LoadRun run) {
        return heldClients(run).stream().filter(EchoClient::isOwed).count();
    }

    private static LoadResult heldResult(LoadRun run, long count, long nanos) {
        return new LoadResult(count, count, nanos, -1, 0, 0, run.errors(), run.firstError());
    }

    /** Closes what {@link #hold} opened; the result counts them, and as errors those that had broken meanwhile. */
    LoadResult release() throws IOException {
        LoadRun run = held;
        if (run == null) {
            return new LoadResult(0, 0, 0, -1, 0, 0, 0, "");
        }
        held = null;
        long startNanos = System.nanoTime();
        long open = run.open();
        run.clients().forEach(LoadClient::finish);
        selector.selectNow(dispatch);
        return new LoadResult(
                open, run.count(), System.nanoTime() - startNanos, -1, 0, 0, run.errors(), run.firstError());
    }

    @Override
    public void close() throws IOException {
        for (SelectionKey key : List.copyOf(selector.keys())) {
            key.channel().close();
        }
        selector.close();
    }

    /** A head that is filled up to the length of a message by a header, so many times. */
    private static ByteBuffer repeated(String head, int times) {
        String fill = "X: " + "-".repeat(MESSAGE_BYTES - head.length() - "X: \r\n\r\n".length()) + "\r\n\r\n";
        byte[] one = (head + fill).getBytes(StandardCharsets.US_ASCII);
        ByteBuffer all = ByteBuffer.allocateDirect(times * one.length);
        for (int i = 0; i < times; i++) {
            all.put(one);
        }
        return all.clear();
    }

    private LoadClient newClient(LoadRun run) {
        return switch (run.spec().scenario()) {
            case SMALL, HTTP1 -> new EchoClient(this, run, EchoClient.Pace.CLOSED_LOOP);
            case LATENCY -> new EchoClient(this, run, EchoClient.Pace.OPEN_LOOP);
            case MIXED ->
                run.clients().size() % Scenario.STREAM_OF == 0
                        ? new DownloadClient(this, run)
                        : new EchoClient(this, run, EchoClient.Pace.OPEN_LOOP);
            case CONNECT, ARRIVE, BURST -> new ConnectClient(this, run);
            case BULK -> new DownloadClient(this, run);
            case UPLOAD -> new UploadClient(this, run);
        };
    }

    private void pump(LoadRun run, Pacer pacer, long deadlineNanos) throws IOException {
        long left = deadlineNanos - System.nanoTime();
        while (left > 0 && !run.isHopeless()) {
            if (pacer == null) {
                selector.select(dispatch, left / NANOS_PER_MILLI + 1);
            } else {
                // Spins: a timed wait is too coarse for a message each few microseconds.
                pacer.sendDue();
                selector.selectNow(dispatch);
            }
            left = deadlineNanos - System.nanoTime();
        }
    }

    /** Opens them all, each at its time. Does not spin: who has just started needs every core. */
    private void arrive(LoadRun run, long startNanos) throws IOException {
        double intervalNanos =
                run.spec().scenario() == Scenario.BURST ? 0 : 1e9 / run.spec().rate();
        while (run.clients().size() < run.spec().connections() && !run.isHopeless()) {
            long dueNanos = startNanos + (long) (run.clients().size() * intervalNanos);
            if (dueNanos - System.nanoTime() <= 0) {
                ConnectClient client = new ConnectClient(this, run);
                run.clients().add(client);
                client.openOnce(dueNanos);
            } else if (selector.selectNow(dispatch) == 0) {
                LockSupport.parkNanos(ARRIVE_PAUSE_NANOS);
            }
        }
    }

    private void finish(LoadRun run) throws IOException {
        run.stop();
        for (LoadClient client : run.clients()) {
            try {
                if (!client.isDone()) {
                    client.onStop();
                }
            } catch (IOException e) {
                client.onFailure(e);
            }
        }
        long deadlineNanos = System.nanoTime() + FINISH_NANOS;
        while (run.open() > 0 && System.nanoTime() - deadlineNanos < 0) {
            selector.select(dispatch, 10);
        }
        if (run.open() > 0) {
            run.failed(run.open() + " of " + run.spec().connections() + " connections did not end within 10 s");
            run.clients().forEach(LoadClient::finish);
        }
        selector.selectNow(dispatch);
    }

    private static long cpuMicros(long pid) throws IOException {
        return pid == 0 ? 0 : ProcessStatus.cpuMicros(pid);
    }

    private static void dispatch(SelectionKey key) {
        LoadPeer peer = (LoadPeer) key.attachment();
        try {
            peer.onReady(key);
        } catch (IOException e) {
            peer.onFailure(e);
        } catch (CancelledKeyException e) {
            peer.onFailure(new IOException("the socket was closed on this side", e));
        }
    }

    // --- what the peers share
    // -----------------------------------------------------------------------------------------

    Selector selector() {
        return selector;
    }

    /** A buffer for one read, empty; its content lives until the next call. */
    ByteBuffer scratch() {
        return scratch.clear();
    }

    /** Bytes to send where only their number matters. */
    ByteBuffer bulk() {
        return bulk.clear();
    }

    /** An HTTP/1 request, as long as a message. */
    ByteBuffer httpRequest() {
        return httpRequest;
    }

    /** So many HTTP/1 responses as that, each as long as a message, 64 at most; they are the same buffer each time. */
    ByteBuffer httpResponses(int count) {
        return httpResponses.clear().limit(count * MESSAGE_BYTES);
    }

    /** One message that the backend echoes. */
    ByteBuffer message() {
        return message.clear();
    }

    /** The next of {@code count} loopback addresses to connect from, with a port of the kernel's choice; null for 0. */
    InetSocketAddress nextSource(int count) {
        if (count == 0) {
            return null;
        }
        nextSource = (nextSource + 1) % Math.min(count, sources.length);
        return new InetSocketAddress(sources[nextSource], 0);
    }

    void echoed(long bytes) {
        echoedBytes += bytes;
    }

    void streamed(long bytes) {
        streamedBytes += bytes;
    }

    void sunk(long bytes) {
        sunkBytes += bytes;
    }

    void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException("close of a backend connection failed", e);
        }
    }

    /** Since when held connections are busy, and what had been counted by then. */
    private record Busy(long sinceNanos, long messagesBefore, long echoedBefore) {}

    /** The backend's listening socket. */
    private final class Acceptor implements LoadPeer {
        @Override
        public void onReady(SelectionKey key) throws IOException {
            for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
                SocketChannel channel = backend.accept();
                if (channel == null) {
                    return;
                }
                if (!((InetSocketAddress) channel.getRemoteAddress())
                        .getAddress()
                        .isLoopbackAddress()) {
                    channel.close();
                    continue;
                }
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                new BackendConnection(LoadLoop.this, channel).register();
            }
        }

        @Override
        public void onFailure(IOException cause) {
            throw new UncheckedIOException("the backend cannot accept; is the limit of open files too low?", cause);
        }
    }

    /** Sends at a fixed rate, whether answers come or not: what a slow target makes wait is seen as latency. */
    private static final class Pacer {
        private final LoadRun run;
        private final List<EchoClient> clients = new ArrayList<>();
        private final double intervalNanos;
        private long startNanos;
        private long sent;

        Pacer(LoadRun run) {
            this.run = run;
            this.intervalNanos = 1e9 / run.spec().rate();
            for (LoadClient client : run.clients()) {
                if (client instanceof EchoClient echo) {
                    clients.add(echo);
                }
            }
        }

        void sendDue() {
            if (startNanos == 0) {
                if (!allConnected()) {
                    return;
                }
                startNanos = System.nanoTime();
            }
            long nowNanos = System.nanoTime();
            long dueNanos = startNanos + (long) (sent * intervalNanos);
            while (dueNanos - nowNanos <= 0 && !run.isStopping()) {
                clients.get((int) (sent % clients.size())).sendAt(dueNanos);
                sent++;
                dueNanos = startNanos + (long) (sent * intervalNanos);
            }
        }

        private boolean allConnected() {
            for (EchoClient client : clients) {
                if (!client.isConnected() && !client.isDone()) {
                    return false;
                }
            }
            return true;
        }
    }
}
