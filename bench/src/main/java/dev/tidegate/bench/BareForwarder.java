package dev.tidegate.bench;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The best that plain Netty does as a TCP forwarder: no picking, no limits, no counters. What Tidegate adds to it is the
 * price of Tidegate.
 *
 * <p>Each choice here was measured: small reads written at once (big batches fall out of the cache), at most four reads a
 * turn, auto-read left on and switched off only while the other side cannot keep up, pooled buffers, on io_uring a ring of
 * read buffers, both sides of a connection on one loop.
 */
final class BareForwarder implements AutoCloseable {
    private static final int READS_PER_TURN = 4;
    private static final int BACKLOG = 4096;

    private final Transport transport;
    private final InetSocketAddress target;
    private final int readBytes;
    private final EventLoopGroup loops;
    private Channel listener;

    private BareForwarder(Transport transport, InetSocketAddress target, int workers, int readBytes) {
        this.transport = transport;
        this.target = target;
        this.readBytes = readBytes;
        this.loops = new MultiThreadIoEventLoopGroup(workers, transport.ioHandlerFactory(readBytes));
    }

    /** Starts to forward from {@code listen} (port 0: any free one) to {@code target}; throws when it cannot listen. */
    static BareForwarder start(
            Transport transport, InetSocketAddress listen, InetSocketAddress target, int workers, int readBytes) {
        BareForwarder forwarder = new BareForwarder(transport, target, workers, readBytes);
        try {
            forwarder.listener = new ServerBootstrap()
                    .group(forwarder.loops)
                    .channel(transport.serverChannelClass())
                    .option(ChannelOption.SO_BACKLOG, BACKLOG)
                    .option(ChannelOption.SO_REUSEADDR, true)
                    // Nothing is read from the client until there is somewhere to write it.
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel client) {
                            forwarder.forward(client);
                        }
                    })
                    .bind(listen)
                    .syncUninterruptibly()
                    .channel();
        } catch (RuntimeException e) {
            forwarder.close();
            throw e;
        }
        return forwarder;
    }

    int port() {
        return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void forward(SocketChannel client) {
        SocketChannel endpoint = transport.newSocketChannel();
        configure(client);
        configure(endpoint);
        endpoint.config().setAutoRead(false);
        BareFlow fromClient = new BareFlow(client, endpoint);
        BareFlow fromEndpoint = new BareFlow(endpoint, client);
        fromClient.pair(fromEndpoint);
        fromEndpoint.pair(fromClient);
        client.pipeline().addLast(fromClient);
        endpoint.pipeline().addLast(fromEndpoint);
        // Without a Bootstrap, which would copy its options and handlers for each connection.
        client.eventLoop().register(endpoint);
        endpoint.connect(target).addListener(connected -> {
            if (connected.isSuccess()) {
                fromClient.onSinkConnected();
                fromEndpoint.onSinkConnected();
            } else {
                fromClient.abort();
            }
        });
    }

    private void configure(SocketChannel channel) {
        SocketChannelConfig config = channel.config();
        config.setAllocator(PooledByteBufAllocator.DEFAULT);
        config.setAllowHalfClosure(true);
        config.setAutoClose(false);
        config.setRecvByteBufAllocator(new FixedRecvByteBufAllocator(readBytes).maxMessagesPerRead(READS_PER_TURN));
        transport.configure(channel);
    }

    /** {@code --transport io_uring|epoll|nio --listen PORT --target HOST:PORT [--workers N] [--read-bytes N]}. */
    public static void main(String[] args) {
        // Warnings to stderr, and stdout to the one line that says where it listens.
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
        System.exit(new CommandLine(new Options()).execute(args));
    }

    @Command(
            name = "BareForwarder",
            mixinStandardHelpOptions = true,
            description = "Forwards TCP from a loopback port to one target, with nothing but Netty.")
    private static final class Options implements Runnable {
        @Option(names = "--transport", required = true, description = "io_uring, epoll or nio")
        private String transport;

        @Option(names = "--listen", required = true, description = "port on 127.0.0.1; 0: any free one")
        private int listenPort;

        @Option(names = "--target", required = true, description = "HOST:PORT to forward to")
        private String target;

        @Option(names = "--workers", defaultValue = "1", description = "event loops; default ${DEFAULT-VALUE}")
        private int workers;

        @Option(names = "--read-bytes", defaultValue = "32768", description = "largest read; default ${DEFAULT-VALUE}")
        private int readBytes;

        @Override
        public void run() {
            BareForwarder forwarder = start(
                    Transport.named(transport),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), listenPort),
                    HostPort.parse(target),
                    workers,
                    readBytes);
            System.out.println("listening " + forwarder.port());
            forwarder.loops.terminationFuture().syncUninterruptibly();
        }
    }
}
