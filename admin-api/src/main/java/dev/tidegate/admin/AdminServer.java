package dev.tidegate.admin;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator's window over HTTP/1.1, on UNIX sockets and on TCP. It has one event loop of its own, the thread
 * {@code tidegate-admin}, so that no client of it can slow a connection of the proxy; answers are made on that loop,
 * but for metrics: those of many endpoints take a while, and are made on the thread {@code tidegate-scrape}.
 *
 * <p>Whoever can open a UNIX socket is admin. On TCP a token says who someone is; without a token file TCP serves reads
 * only. Beyond loopback TCP needs TLS and tokens, or nothing starts. A socket that was open already is treated as what it
 * is.
 *
 * <p>Only with epoll it can take a socket that is open already.
 *
 * <p>{@link #start}, {@link #refresh}, {@link #addresses} and {@link #close} may be called from any thread but its own.
 */
public final class AdminServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AdminServer.class);
    private static final int BACKLOG = 128;
    private static final int ACCEPTS_A_TURN = 4; // few, so that one who was let in is heard before the next ones are
    private static final long STOP_SECONDS = 5;

    private final ProxyOperations operations;
    private final AdminLimits limits;
    private final Predicate<InetAddress> loopback;
    private final Optional<IoHandlerFactory> epoll;
    private final List<AdminAddress> bound = new ArrayList<>();
    private final ChannelGroup listeners = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final List<AdminAddress.Passed> descriptors = new ArrayList<>();
    private final List<Path> files = new ArrayList<>(); // of sockets that were bound here
    private final List<Path> filesOfAnother = new ArrayList<>(); // the process before has them still
    private EventLoopGroup group;
    private AdminSettings settings;
    private Parts parts;
    private volatile TlsFiles tls; // writer: start and refresh
    private final Scrapes scrapes;
    private final Places onUnix; // on the loop only
    private final Places onTcp; // on the loop only

    /** What all listeners share; on the loop only. */
    private record Parts(
            LongSupplier nanoTime,
            TokenFile tokens,
            Dispatcher dispatcher,
            EventHub events,
            RateLimiter rates,
            Audit audit) {}

    /**
     * @param operations what it serves
     */
    public AdminServer(ProxyOperations operations) {
        this(operations, AdminLimits.STANDARD);
    }

    /**
     * @param operations what it serves
     * @param epoll what the loop does I/O with; empty: the JDK's, which cannot take a socket that is open already
     */
    public AdminServer(ProxyOperations operations, Optional<IoHandlerFactory> epoll) {
        this(operations, AdminLimits.STANDARD, InetAddress::isLoopbackAddress, epoll);
    }

    AdminServer(ProxyOperations operations, AdminLimits limits) {
        this(operations, limits, InetAddress::isLoopbackAddress);
    }

    /** For tests: what counts as loopback. */
    AdminServer(ProxyOperations operations, AdminLimits limits, Predicate<InetAddress> loopback) {
        this(operations, limits, loopback, Optional.empty());
    }

    private AdminServer(
            ProxyOperations operations,
            AdminLimits limits,
            Predicate<InetAddress> loopback,
            Optional<IoHandlerFactory> epoll) {
        this.epoll = epoll;
        this.operations = operations;
        this.scrapes = new Scrapes(operations);
        this.limits = limits;
        this.loopback = loopback;
        this.onUnix = new Places(limits.connections(), limits.reserved());
        this.onTcp = new Places(limits.connections(), limits.reserved());
    }

    /**
     * Listens on all addresses, or on none, without tokens and TLS.
     *
     * @param addresses where
     * @return the same in the same order, with the ports that the kernel chose
     * @throws IOException with a message for the operator, when one of them cannot be had
     */
    public List<AdminAddress> start(List<AdminAddress> addresses) throws IOException {
        return start(AdminSettings.of(addresses));
    }

    /**
     * Listens on all addresses, or on none.
     *
     * @param wanted where, and whom to believe; a UNIX socket's directory is created (0750) if it is missing, and a socket
     *     file that nobody listens on is replaced
     * @return the addresses in the same order, with the ports that the kernel chose
     * @throws IOException with a message for the operator, one problem a line, when an address cannot be had, a file
     *     cannot be used, or an address beyond loopback lacks TLS or tokens
     */
    public synchronized List<AdminAddress> start(AdminSettings wanted) throws IOException {
        List<AdminAddress> addresses = prepare(wanted);
        serve();
        return addresses;
    }

    /**
     * Listens as {@link #start} does, but accepts nobody before {@link #serve}.
     *
     * @throws IOException as {@link #start} does
     */
    public synchronized List<AdminAddress> prepare(AdminSettings wanted) throws IOException {
        if (group != null) {
            throw new IllegalStateException("the admin server was started already");
        }
        settings = wanted;
        group = new MultiThreadIoEventLoopGroup(1, AdminServer::thread, epoll.orElseGet(NioIoHandler::newFactory));
        try {
            parts = parts(group.next());
            tls = wanted.tls().isPresent() ? TlsFiles.read(wanted.tls().get()) : null;
            for (AdminAddress address : wanted.addresses()) {
                bound.add(listen(address));
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
        return List.copyOf(bound);
    }

    /** Accepts whoever comes, from now on. */
    public synchronized void serve() {
        listeners.forEach(listener -> listener.config().setAutoRead(true));
    }

    /** At once when on the loop already; not at all once it ends, since nobody is there to be answered then. */
    private static void onLoop(EventLoop loop, Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
        } else if (!loop.isShuttingDown()) {
            loop.execute(task);
        }
    }

    private Parts parts(EventLoop loop) throws IOException {
        LongSupplier nanoTime = () -> loop.ticker().nanoTime();
        Audit audit = new Audit(nanoTime);
        loop.scheduleAtFixedRate(audit::tellSummed, 1, 1, TimeUnit.SECONDS);
        return new Parts(
                nanoTime,
                settings.tokenFile().isPresent()
                        ? TokenFile.open(settings.tokenFile().get(), nanoTime.getAsLong())
                        : null,
                new Dispatcher(new Router(Routes.of(operations, task -> onLoop(loop, task), scrapes))),
                new EventHub(operations, limits, loop, nanoTime),
                new RateLimiter(limits.requestsPerSecond(), limits.burst()),
                audit);
    }

    /**
     * Reads the files of tokens and of TLS again, for new requests and new connections. One that cannot be used leaves in
     * force what was read before, and the log says so.
     */
    public synchronized void refresh() {
        if (group == null || group.isShuttingDown()) {
            return;
        }
        if (parts.tokens() != null) {
            group.execute(() -> parts.tokens().reload());
        }
        if (settings.tls().isPresent()) {
            try {
                tls = TlsFiles.read(settings.tls().get());
            } catch (IOException e) {
                log.warn("TLS files not taken, those read before stay in force: {}", e.getMessage());
            }
        }
    }

    /** Where it listens, with real ports; empty before the start and after the end. */
    public synchronized List<AdminAddress> addresses() {
        return List.copyOf(bound);
    }

    /** Connections open now. */
    int connections() {
        return connections.size();
    }

    /** Closes listeners and connections, removes socket files and ends the threads. Does nothing a second time. */
    @Override
    public synchronized void close() {
        bound.clear();
        descriptors.clear();
        if (group == null || group.isShuttingDown()) {
            return;
        }
        listeners.close().awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
        removeFiles();
        connections.close().awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
        scrapes.close();
        group.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
    }

    private static Thread thread(Runnable task) {
        Thread thread = new FastThreadLocalThread(task, "tidegate-admin");
        thread.setDaemon(true);
        return thread;
    }

    private AdminAddress listen(AdminAddress address) throws IOException {
        if (address instanceof AdminAddress.Passed passed) {
            return listenPassed(passed);
        }
        if (address instanceof AdminAddress.Unix unix) {
            return listenUnix(unix);
        }
        AdminAddress.Tcp tcp = (AdminAddress.Tcp) address;
        Listener listener = tcpListener(tcp, tcp);
        Channel channel = open(
                epoll.isPresent() ? EpollServerSocketChannel::new : NioServerSocketChannel::new,
                tcp.address(),
                tcp,
                listener);
        AdminAddress.Tcp real = new AdminAddress.Tcp((InetSocketAddress) channel.localAddress());
        if (channel instanceof UnixChannel unixChannel) {
            descriptors.add(new AdminAddress.Passed("", unixChannel.fd().intValue(), real, address.toString()));
        }
        return real;
    }

    /**
     * Its listening sockets, to be handed to another process; none without epoll.
     *
     * @return as {@link AdminAddress.Passed}, {@code real} and {@code fd} as they are here
     */
    public synchronized List<AdminAddress.Passed> descriptors() {
        return List.copyOf(descriptors);
    }

    /**
     * The process that had its sockets before has given them up: their files are this one's from now on, and go with it. Until
     * then they are left alone, whatever becomes of this one.
     */
    public synchronized void inherit() {
        files.addAll(filesOfAnother);
        filesOfAnother.clear();
    }

    /**
     * Another process has its sockets: it stops listening, ends its connections once they had a moment to be answered, and
     * leaves files where they are.
     */
    public synchronized void giveUp() {
        files.clear();
        close();
    }

    private AdminAddress listenPassed(AdminAddress.Passed passed) throws IOException {
        if (epoll.isEmpty()) {
            throw new IOException(
                    "admin address \"" + passed + "\": a socket that is open already needs epoll, which is not"
                            + " available here; write unix:/PATH or HOST:PORT");
        }
        if (passed.real() instanceof AdminAddress.Tcp tcp) {
            open(() -> new EpollServerSocketChannel(passed.fd()), null, passed, tcpListener(passed, tcp));
        } else {
            open(() -> new EpollServerDomainSocketChannel(passed.fd(), true), null, passed, unixListener());
        }
        if (passed.name().isEmpty() && passed.real() instanceof AdminAddress.Unix unix) {
            filesOfAnother.add(unix.path());
        }
        descriptors.add(passed);
        return passed.name().isEmpty() ? passed.real() : passed;
    }

    private AdminAddress listenUnix(AdminAddress.Unix address) throws IOException {
        Path path = address.path();
        SocketFile.prepare(path);
        if (epoll.isPresent()) {
            int fd = bindUnix(path, address);
            files.add(path);
            descriptors.add(new AdminAddress.Passed("", fd, address, address.toString()));
            open(() -> new EpollServerDomainSocketChannel(fd, true), null, address, unixListener());
        } else {
            open(NioServerDomainSocketChannel::new, UnixDomainSocketAddress.of(path), address, unixListener());
        }
        SocketFile.restrict(path);
        return address;
    }

    /** Not by Netty's channel, which would remove the file with its end, whosever it is by then. */
    private static int bindUnix(Path path, AdminAddress.Unix address) throws IOException {
        Socket socket = Socket.newSocketDomain();
        try {
            socket.bind(new DomainSocketAddress(path.toString()));
            socket.listen(BACKLOG);
            return socket.intValue();
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw cannotListen(address, e);
        }
    }

    private void removeFiles() {
        for (Path file : files) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                log.warn("the admin socket's file is left behind: {}", e.toString());
            }
        }
        files.clear();
    }

    private Listener unixListener() {
        return listener(HostCheck.ANY, "http", Gate.socket());
    }

    /**
     * What TCP is served with.
     *
     * @param asked as it was asked for, for messages
     * @param address where it is
     */
    private Listener tcpListener(AdminAddress asked, AdminAddress.Tcp address) throws IOException {
        InetSocketAddress wanted = address.address();
        if (wanted.isUnresolved()) {
            throw new IOException("admin address \"" + asked + "\": the name has no address; use one that has");
        }
        boolean local = loopback.test(wanted.getAddress());
        boolean guarded = parts.tokens() != null && tls != null;
        if (!local && !guarded) {
            throw new IOException("admin address \"" + asked + "\" is not a loopback address, and beyond loopback TLS"
                    + " and tokens are needed; set admin.tls and admin.token-file, or use 127.0.0.1, [::1] or a unix:"
                    + " path");
        }
        HostCheck hosts = local ? HostCheck.loopback(address) : HostCheck.beyondLoopback(address, tls.names());
        Gate gate = parts.tokens() == null ? Gate.readsOnly() : Gate.tokens(parts.tokens(), local, parts.nanoTime());
        return listener(hosts, tls == null ? "http" : "https", gate);
    }

    private Listener listener(HostCheck hosts, String scheme, Gate gate) {
        return new Listener(
                new RequestCheck(hosts, scheme, limits.bodyBytes()),
                gate,
                parts.dispatcher(),
                parts.events(),
                parts.rates(),
                parts.audit());
    }

    /** @param where to bind it; null: it listens already */
    private Channel open(
            ChannelFactory<ServerChannel> factory, SocketAddress where, AdminAddress address, Listener listener)
            throws IOException {
        AdminAddress real = address instanceof AdminAddress.Passed passed ? passed.real() : address;
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(group)
                .channelFactory(factory)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.AUTO_READ, false)
                .option(
                        ChannelOption.RECVBUF_ALLOCATOR,
                        new ServerChannelRecvByteBufAllocator().maxMessagesPerRead(ACCEPTS_A_TURN))
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accept(channel, listener, real instanceof AdminAddress.Tcp);
                    }
                });
        ChannelFuture open = where == null ? bootstrap.register() : bootstrap.bind(where);
        if (!open.awaitUninterruptibly().isSuccess()) {
            throw cannotListen(address, open.cause());
        }
        listeners.add(open.channel());
        return open.channel();
    }

    private static IOException cannotListen(AdminAddress address, Throwable cause) {
        String said = String.valueOf(cause.getMessage()).replaceFirst("^.* failed with error\\(-\\d+\\): ", "");
        return new IOException("admin address \"" + address + "\": cannot listen: " + said, cause);
    }

    private void accept(Channel channel, Listener listener, boolean tcp) {
        boolean ordinary = (tcp ? onTcp : onUnix).take(channel);
        connections.add(channel);
        Exchange exchange = new Exchange(limits, listener, Peers.of(channel, !ordinary));
        channel.pipeline().addLast(exchange.clock());
        if (tcp && tls != null) {
            channel.pipeline().addLast(tls.context().newHandler(channel.alloc()));
        }
        channel.pipeline()
                .addLast(new StrictRequestDecoder(limits.headerBytes()))
                .addLast(new HttpResponseEncoder())
                .addLast(exchange);
    }
}
