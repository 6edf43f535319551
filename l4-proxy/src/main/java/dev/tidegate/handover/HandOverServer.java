package dev.tidegate.handover;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.string.StringDecoder;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Where the process that shall take this one's place asks for its sockets: a UNIX socket that only this user can open. One
 * at a time: a second is refused. Its loop is a thread of its own, {@code tidegate-handover}.
 *
 * <p>{@link #close} may be called by any thread, more than once.
 */
public final class HandOverServer implements AutoCloseable {
    /** As in stat(2). */
    private static final int TYPE_MASK = 0xf000;

    private static final int TYPE_SOCKET = 0xc000;
    private static final int BACKLOG = 8;
    static final long STOP_SECONDS = 2;

    private final Path path;
    private final EventLoopGroup group;
    private final Giver giver;
    private final int uid;
    private HandOverSession session; // on the loop; the one under way
    private volatile CountDownLatch farewell = new CountDownLatch(0); // writer: the loop
    private volatile Channel listener; // writer: whoever opens

    private HandOverServer(Path path, IoHandlerFactory epoll, Giver giver, int uid) {
        this.path = path;
        this.giver = giver;
        this.uid = uid;
        this.group = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("tidegate-handover", true), epoll);
    }

    /**
     * Listens. A socket file that nobody listens on is replaced: whoever made it has ended.
     *
     * @param path the socket file, in a directory that exists
     * @param epoll what the loop does I/O with
     * @param giver what has the sockets
     * @throws IOException when it cannot be had; its message is for the operator
     */
    public static HandOverServer open(Path path, IoHandlerFactory epoll, Giver giver) throws IOException {
        HandOverServer server =
                new HandOverServer(path, epoll, giver, (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        try {
            server.listen();
            return server;
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private void listen() throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            if (((int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) & TYPE_MASK) != TYPE_SOCKET) {
                throw new IOException("a file that is no socket is there; remove it");
            }
            if (isLive()) {
                throw new IOException("another process listens there; give each a RUNTIME_DIRECTORY of its own");
            }
            Files.delete(path);
        }
        Socket socket = Socket.newSocketDomain();
        try {
            socket.bind(new DomainSocketAddress(path.toString()));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            socket.listen(BACKLOG); // nobody could connect before its mode was set
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
        var open = new ServerBootstrap()
                .group(group)
                .channelFactory(() -> new EpollServerDomainSocketChannel(socket.intValue(), true))
                .childHandler(new ChannelInitializer<EpollDomainSocketChannel>() {
                    @Override
                    protected void initChannel(EpollDomainSocketChannel channel) {
                        channel.pipeline()
                                .addLast(new LineBasedFrameDecoder(Wire.LINE_MAX))
                                .addLast(new StringDecoder(StandardCharsets.UTF_8))
                                .addLast(new HandOverSession(HandOverServer.this, giver, channel, uid));
                    }
                })
                .register()
                .awaitUninterruptibly();
        if (!open.isSuccess()) {
            throw new IOException("cannot listen: " + open.cause().getMessage(), open.cause());
        }
        listener = open.channel();
    }

    private boolean isLive() throws IOException {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.configureBlocking(false);
            probe.connect(UnixDomainSocketAddress.of(path));
            return true;
        } catch (ConnectException e) {
            return false;
        } catch (SocketException e) {
            throw new IOException("the socket that is there is another user's (" + e.getMessage() + "); remove it", e);
        }
    }

    /**
     * Who is taking over is refused, unless it has been told that it may: from here on there is nothing to take over. It must
     * not take the end of this process for a death, and serve. Returns at once. Any thread.
     */
    public void refuse(String why) {
        if (!group.isShuttingDown()) {
            group.next().execute(() -> {
                if (session != null) {
                    session.giveUp(why);
                }
            });
        }
    }

    /** The session that may go on; false when another does. On the loop. */
    boolean tryBegin(HandOverSession wanted) {
        if (session != null) {
            return false;
        }
        session = wanted;
        return true;
    }

    /** The other process is to be told something that this one must not end before it has heard. On the loop. */
    CountDownLatch beginFarewell() {
        CountDownLatch begun = new CountDownLatch(1);
        farewell = begun;
        return begun;
    }

    /** A session is over, and nothing came of it. On the loop. */
    void end(HandOverSession over) {
        if (session == over) {
            session = null;
        }
    }

    /** Takes the socket away, so that the process that has taken over can make its own. On the loop. */
    void withdraw() {
        listener.close();
        removeFile();
    }

    private void removeFile() {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            // It stays behind; whoever comes next replaces it.
            HandOverSession.log.warn("the hand-over's socket file is left behind: {}", e.toString());
        }
    }

    /** Ends it: not in the middle of telling the next process what becomes of it. Waits for a few seconds at most. */
    @Override
    public synchronized void close() {
        if (group.isShuttingDown()) {
            return;
        }
        try {
            if (!farewell.await(STOP_SECONDS, TimeUnit.SECONDS)) {
                HandOverSession.log.warn("the next process has perhaps not heard what becomes of the hand-over");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Channel open = listener;
        if (open != null && open.isOpen()) {
            open.close().awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
            removeFile();
        }
        group.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
    }
}
