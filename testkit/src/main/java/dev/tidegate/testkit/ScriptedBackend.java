package dev.tidegate.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A real TCP server on a loopback port of the kernel's choice that does with each connection what a {@link Script} says.
 *
 * <pre>{@code
 * try (ScriptedBackend backend = ScriptedBackend.start(Scripts.rstAfterReading(10))) {
 *     proxyTo(backend.address());
 *     …
 *     backend.awaitConnections(1);
 *     assertEquals(10, backend.connection(0).bytesReceived());
 * }
 * }</pre>
 *
 * <p>Safe for use by any thread. Each connection has a daemon thread of its own.
 */
public final class ScriptedBackend implements AutoCloseable {
    private static final Duration JOIN_BOUND = Duration.ofSeconds(5);

    private final Script script;
    private final InetSocketAddress address;
    private final AutoCloseable socket;
    private final List<AutoCloseable> held = new ArrayList<>();
    private final List<ScriptedConnection> connections = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new CopyOnWriteArrayList<>(); // the first one accepts
    private final AtomicInteger concurrent = new AtomicInteger();
    private final AtomicInteger maxConcurrent = new AtomicInteger();

    private ScriptedBackend(Script script, InetSocketAddress address, AutoCloseable socket) {
        this.script = script;
        this.address = address;
        this.socket = socket;
    }

    /** Listens on 127.0.0.1. */
    public static ScriptedBackend start(Script script) {
        return start(Options.DEFAULT, script);
    }

    /** Listens as told. */
    public static ScriptedBackend start(Options options, Script script) {
        try {
            ServerSocketChannel server = listen(options);
            ScriptedBackend backend = new ScriptedBackend(script, addressOf(server), server);
            backend.spawn("accept", () -> backend.acceptLoop(server));
            return backend;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen: " + options, e);
        }
    }

    /** Sends back what comes. */
    public static ScriptedBackend echo() {
        return start(Scripts.echo());
    }

    /** Reads {@code bytesPerSecond} through a receive buffer as small as the kernel allows. */
    public static ScriptedBackend slowReader(int bytesPerSecond) {
        return start(Options.DEFAULT.withReceiveBuffer(1), Scripts.slowReader(bytesPerSecond));
    }

    /** Accepts and never reads, with a receive buffer as small as the kernel allows. */
    public static ScriptedBackend neverReading() {
        return start(Options.DEFAULT.withReceiveBuffer(1), Scripts.silent());
    }

    /** A port where connects are refused. It is bound but does not listen, so that nobody else can get it meanwhile. */
    public static ScriptedBackend refusing() {
        try {
            SocketChannel bound = SocketChannel.open();
            bound.bind(new InetSocketAddress(Options.DEFAULT.host, 0));
            return new ScriptedBackend(Scripts.rst(), (InetSocketAddress) bound.getLocalAddress(), bound);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot bind a port to refuse on", e);
        }
    }

    /**
     * A port where connects neither succeed nor fail: it listens, never accepts, and its queue is full, so that the kernel
     * drops each SYN. Proved by the kernel's own count.
     */
    public static ScriptedBackend blackHole() {
        return blackHole(Options.DEFAULT);
    }

    /** The same, listening as told; a backlog of 1 in any case. */
    public static ScriptedBackend blackHole(Options told) {
        try {
            Options options = told.withBacklog(1);
            ServerSocketChannel server = listen(options);
            ScriptedBackend backend = new ScriptedBackend(Scripts.silent(), addressOf(server), server);
            backend.fillQueue(options.backlog);
            return backend;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a port with a full queue", e);
        }
    }

    /** Where it listens (or refuses). */
    public InetSocketAddress address() {
        return address;
    }

    /** The port of {@link #address()}. */
    public int port() {
        return address.getPort();
    }

    /** {@code HOST:PORT}, an IPv6 host in brackets: as the configuration has it. */
    public String hostPort() {
        return HostPort.of(address);
    }

    /** Everything accepted so far, in order. */
    public List<ScriptedConnection> connections() {
        return List.copyOf(connections);
    }

    /** The connection accepted as number {@code index} from 0; waits for it. */
    public ScriptedConnection connection(int index) {
        awaitConnections(index + 1);
        return connections.get(index);
    }

    /** Waits until at least {@code count} were accepted. */
    public void awaitConnections(int count) {
        if (!Await.tryUntil(Await.BOUND, () -> connections.size() >= count)) {
            throw new AssertionError(this + ": expected " + count + " connections, got " + connections.size()
                    + " after " + Await.words(Await.BOUND));
        }
    }

    /** Waits until every connection accepted so far has run its script to the end. */
    public void awaitAllDone() {
        Await.until(this + ": every script is done", () -> concurrent.get() == 0);
    }

    /** Connections open on this side now. */
    public int concurrent() {
        return concurrent.get();
    }

    /** The most connections that were open on this side at once. */
    public int maxConcurrent() {
        return maxConcurrent.get();
    }

    /** Stops listening: connects are refused from here on, open connections stay. */
    public void stopListening() {
        closeQuietly(socket);
        // The kernel listens for as long as a thread is inside accept.
        threads.stream().limit(1).forEach(this::join);
    }

    /**
     * Stops listening, closes every connection and waits for the scripts to end.
     *
     * @throws AssertionError when a script failed for another reason than its client's leaving
     */
    @Override
    public void close() {
        stopListening();
        held.forEach(ScriptedBackend::closeQuietly);
        connections.forEach(ScriptedConnection::close);
        threads.forEach(this::join);
        connections.forEach(this::rethrowFault);
    }

    private void rethrowFault(ScriptedConnection connection) {
        connection.scriptEnd().filter(end -> !(end instanceof IOException)).ifPresent(fault -> {
            throw new AssertionError(connection + ": its script failed", fault);
        });
    }

    private void acceptLoop(ServerSocketChannel server) {
        while (server.isOpen()) {
            try {
                serve(new ScriptedConnection(connections.size(), server.accept()));
            } catch (IOException e) {
                // Closed by close(), or out of descriptors, or the client was gone before getpeername: go on while
                // open.
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private void serve(ScriptedConnection connection) {
        maxConcurrent.accumulateAndGet(concurrent.incrementAndGet(), Math::max);
        connections.add(connection);
        spawn("connection-" + connection.index(), () -> {
            try {
                connection.run(script);
            } finally {
                concurrent.decrementAndGet();
            }
        });
    }

    private void spawn(String name, Runnable task) {
        Thread thread = new Thread(task, "scripted-backend-" + port() + "-" + name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /** The kernel takes one more than the backlog says. Whoever knocks meanwhile may be among them. */
    private void fillQueue(int backlog) throws IOException {
        for (int i = 0; i <= backlog; i++) {
            SocketChannel filler = SocketChannel.open();
            held.add(filler);
            filler.configureBlocking(false);
            filler.connect(address);
        }
        Await.until(this + ": its queue is full", () -> Sockets.waitingForAccept(address) > backlog);
    }

    private void join(Thread thread) {
        try {
            thread.join(JOIN_BOUND.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            throw new AssertionError(this + ": thread " + thread.getName() + " did not end within "
                    + Await.words(JOIN_BOUND) + " of close; a script must end when its connection is closed");
        }
    }

    private static ServerSocketChannel listen(Options options) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            if (options.receiveBufferBytes > 0) {
                server.setOption(StandardSocketOptions.SO_RCVBUF, options.receiveBufferBytes);
            }
            server.bind(new InetSocketAddress(options.host, options.port), options.backlog);
            return server;
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private static InetSocketAddress addressOf(ServerSocketChannel server) throws IOException {
        return (InetSocketAddress) server.getLocalAddress();
    }

    private static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            throw new IllegalStateException("closing " + closeable + " failed", e);
        }
    }

    @Override
    public String toString() {
        return "ScriptedBackend[" + hostPort() + "]";
    }

    /**
     * How to listen.
     *
     * @param host a loopback address, such as {@code 127.0.0.2} or {@code ::1}
     * @param port 0 for the kernel's choice; a number only to come back where a backend was before
     * @param backlog of the listening socket
     * @param receiveBufferBytes SO_RCVBUF of each connection; 0 for the kernel's choice, 1 for its smallest
     */
    public record Options(String host, int port, int backlog, int receiveBufferBytes) {
        /** 127.0.0.1, any port, a backlog of 1,024. */
        public static final Options DEFAULT = new Options("127.0.0.1", 0, 1024, 0);

        /** The same on another host. */
        public Options onHost(String newHost) {
            return new Options(newHost, port, backlog, receiveBufferBytes);
        }

        /** The same on a given port. */
        public Options onPort(int newPort) {
            return new Options(host, newPort, backlog, receiveBufferBytes);
        }

        /** The same with another backlog. */
        public Options withBacklog(int newBacklog) {
            return new Options(host, port, newBacklog, receiveBufferBytes);
        }

        /** The same with another SO_RCVBUF. */
        public Options withReceiveBuffer(int bytes) {
            return new Options(host, port, backlog, bytes);
        }
    }
}
