package dev.tidegate.admin;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The operator's window over HTTP/1.1, on UNIX sockets and on loopback. It has one event loop of its own, the thread
 * {@code tidegate-admin}, so that no client of it can slow a connection of the proxy; answers are made on that loop,
 * metrics too, which are small and made from memory.
 *
 * <p>{@link #start}, {@link #addresses} and {@link #close} may be called from any thread but its own.
 */
public final class AdminServer implements AutoCloseable {
    private static final int BACKLOG = 128;
    private static final long STOP_SECONDS = 5;

    private final AdminLimits limits;
    private final Routes routes;
    private final List<AdminAddress> bound = new ArrayList<>();
    private final ChannelGroup listeners = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private EventLoopGroup loop;
    private int open; // on the loop only

    /**
     * @param operations what it serves
     */
    public AdminServer(ProxyOperations operations) {
        this(operations, AdminLimits.STANDARD);
    }

    AdminServer(ProxyOperations operations, AdminLimits limits) {
        this.limits = limits;
        this.routes = new Routes(operations);
    }

    /**
     * Listens on all addresses, or on none.
     *
     * @param addresses where; a UNIX socket's directory is created (0750) if it is missing, and a socket file that
     *     nobody listens on is replaced
     * @return the same in the same order, with the ports that the kernel chose
     * @throws IOException with a message for the operator, when one of them cannot be had
     */
    public synchronized List<AdminAddress> start(List<AdminAddress> addresses) throws IOException {
        if (loop != null) {
            throw new IllegalStateException("the admin server was started already");
        }
        loop = new MultiThreadIoEventLoopGroup(1, AdminServer::thread, NioIoHandler.newFactory());
        try {
            for (AdminAddress address : addresses) {
                bound.add(listen(address));
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
        return List.copyOf(bound);
    }

    /** Where it listens, with real ports; empty before the start and after the end. */
    public synchronized List<AdminAddress> addresses() {
        return List.copyOf(bound);
    }

    /** Connections open now. */
    int connections() {
        return connections.size();
    }

    /** Closes listeners and connections, removes socket files and ends the thread. Does nothing a second time. */
    @Override
    public synchronized void close() {
        bound.clear();
        if (loop == null || loop.isShuttingDown()) {
            return;
        }
        listeners.close().awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
        connections.close().awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
        loop.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
    }

    private static Thread thread(Runnable task) {
        Thread thread = new FastThreadLocalThread(task, "tidegate-admin");
        thread.setDaemon(true);
        return thread;
    }

    private AdminAddress listen(AdminAddress address) throws IOException {
        if (address instanceof AdminAddress.Unix unix) {
            return listenUnix(unix);
        }
        return listenTcp((AdminAddress.Tcp) address);
    }

    private AdminAddress listenUnix(AdminAddress.Unix address) throws IOException {
        Path path = address.path();
        SocketFile.prepare(path);
        bind(NioServerDomainSocketChannel.class, UnixDomainSocketAddress.of(path), address);
        SocketFile.restrict(path);
        return address;
    }

    private AdminAddress listenTcp(AdminAddress.Tcp address) throws IOException {
        InetSocketAddress wanted = address.address();
        if (wanted.isUnresolved() || !wanted.getAddress().isLoopbackAddress()) {
            throw new IOException("admin address \"" + address
                    + "\" is not a loopback address; use 127.0.0.1, [::1] or a unix: path");
        }
        Channel channel = bind(NioServerSocketChannel.class, wanted, address);
        return new AdminAddress.Tcp((InetSocketAddress) channel.localAddress());
    }

    private Channel bind(Class<? extends ServerChannel> type, SocketAddress where, AdminAddress address)
            throws IOException {
        HostCheck hosts = address instanceof AdminAddress.Tcp tcp ? HostCheck.loopback(tcp) : HostCheck.ANY;
        ChannelFuture bind = new ServerBootstrap()
                .group(loop)
                .channel(type)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accept(channel, hosts);
                    }
                })
                .bind(where)
                .awaitUninterruptibly();
        if (!bind.isSuccess()) {
            throw new IOException(
                    "admin address \"" + address + "\": cannot listen: "
                            + bind.cause().getMessage(),
                    bind.cause());
        }
        listeners.add(bind.channel());
        return bind.channel();
    }

    private void accept(Channel channel, HostCheck hosts) {
        if (open >= limits.connections()) {
            channel.close();
            return;
        }
        open++;
        channel.closeFuture().addListener(closed -> open--);
        connections.add(channel);
        Exchange exchange = new Exchange(limits, hosts, routes);
        channel.pipeline()
                .addLast(exchange.clock())
                .addLast(new StrictRequestDecoder(limits.headerBytes()))
                .addLast(new HttpResponseEncoder())
                .addLast(exchange);
    }
}
