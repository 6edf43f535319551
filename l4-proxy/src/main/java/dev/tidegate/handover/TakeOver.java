package dev.tidegate.handover;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.DomainSocketReadMode;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The next process's side of a hand-over: it asks the running one for its sockets, and tells it when it is ready. As long as
 * it has not told, the running one goes on as if nothing had happened, whatever becomes of this process.
 *
 * <p>Used by one thread, which waits.
 */
public final class TakeOver implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TakeOver.class);

    private static final long ANSWER_SECONDS = 30;

    /** Once it is ready: the other may have decided already, and take long for the rest of it. */
    private static final long TAKEN_SECONDS = 120;

    private static final long STOP_SECONDS = 2;
    private static final int READ_BYTES = 4 * 1024;

    private final Path path;
    private final EventLoopGroup group;
    private final BlockingQueue<Object> heard = new LinkedBlockingQueue<>(); // lines, descriptors, and in the end this
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private final Ear ear = new Ear();
    private EpollDomainSocketChannel channel;
    private long pid;
    private List<HandedSocket> sockets = List.of();

    private TakeOver(Path path, IoHandlerFactory epoll) {
        this.path = path;
        this.group = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("tidegate-takeover", true), epoll);
    }

    /**
     * Asks for the sockets.
     *
     * @param path the running process's hand-over socket
     * @param epoll what the loop does I/O with
     * @throws IOException when there is none to take over from, or it refuses; its message is one line for the operator
     */
    public static TakeOver from(Path path, IoHandlerFactory epoll) throws IOException {
        TakeOver takeOver = new TakeOver(path, epoll);
        try {
            takeOver.ask();
            return takeOver;
        } catch (IOException | RuntimeException e) {
            takeOver.close();
            throw e;
        }
    }

    private void ask() throws IOException {
        var connected = new Bootstrap()
                .group(group)
                .channel(EpollDomainSocketChannel.class)
                // A line that comes too late for the other must not take away what that has said before it went.
                .option(ChannelOption.AUTO_CLOSE, false)
                .handler(ear)
                .connect(new DomainSocketAddress(path.toString()))
                .awaitUninterruptibly();
        if (!connected.isSuccess()) {
            throw new IOException("there is no process to take over from at " + path + ": " + why(connected.cause())
                    + "; start without --take-over");
        }
        channel = (EpollDomainSocketChannel) connected.channel();
        pid = channel.peerCredentials().pid(); // of whoever listens
        say(Wire.hello());
        String answer = line(ANSWER_SECONDS);
        throwIfRefused(answer);
        List<HandedSocket> announced;
        try {
            announced = Wire.announced(answer);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage() + "; restart instead", e);
        }
        sockets = received(announced);
    }

    /** Netty says nothing of a file that is not there. */
    private static String why(Throwable cause) {
        return cause instanceof FileNotFoundException
                ? "there is no such socket"
                : String.valueOf(cause.getMessage()).replaceFirst("^.* failed[^:]*: ", "");
    }

    private List<HandedSocket> received(List<HandedSocket> announced) throws IOException {
        if (announced.isEmpty()) {
            say(Wire.SEND);
            return List.of();
        }
        // One at a time, and lines again behind the last: that the other refuses after all may follow at once.
        channel.config()
                .setRecvByteBufAllocator(new FixedRecvByteBufAllocator(READ_BYTES).maxMessagesPerRead(1))
                .setReadMode(DomainSocketReadMode.FILE_DESCRIPTORS); // it says nothing before it is asked
        ear.descriptorsLeft = announced.size();
        say(Wire.SEND);
        List<HandedSocket> received = new ArrayList<>();
        for (HandedSocket socket : announced) {
            if (!(next(ANSWER_SECONDS) instanceof FileDescriptor fd)) {
                received.forEach(each -> closeQuietly(new FileDescriptor(each.fd())));
                // What it says now cannot be read beside descriptors: it may have been asked to stop, too.
                throw new IOException(
                        "the running process has ended the hand-over before it handed all its sockets over:"
                                + " it stops, or has gone");
            }
            received.add(new HandedSocket(socket.user(), socket.name(), socket.place(), fd.intValue()));
        }
        return List.copyOf(received);
    }

    private static void closeQuietly(FileDescriptor fd) {
        try {
            fd.close();
        } catch (IOException e) {
            log.debug("a descriptor that is not needed was not closed: {}", e.toString());
        }
    }

    /** All sockets of the running process; they are the caller's to close. */
    public List<HandedSocket> sockets() {
        return sockets;
    }

    /**
     * This process is ready: the other stops accepting. To be called once.
     *
     * @return whether the other has said that it did; if not, it has perhaps gone
     * @throws IOException when the other does not give way after all; its message is one line for the operator
     */
    public boolean ready() throws IOException {
        say(Wire.READY);
        String answer;
        try {
            answer = line(TAKEN_SECONDS);
        } catch (IOException gone) {
            return false;
        }
        throwIfRefused(answer);
        return answer.equals(Wire.TAKEN);
    }

    private static void throwIfRefused(String answer) throws IOException {
        if (answer.startsWith(Wire.REFUSED)) {
            throw new IOException(
                    "the running process refuses to hand over: " + answer.substring(Wire.REFUSED.length()));
        }
    }

    /** Is done when the other has refused, or is gone: it is not to be waited for. Completed on the loop. */
    public CompletableFuture<Void> gone() {
        return gone.copy();
    }

    /** The running process. */
    public long pid() {
        return pid;
    }

    private void say(String line) {
        channel.writeAndFlush(ByteBufUtil.writeUtf8(channel.alloc(), line + "\n"));
    }

    private String line(long seconds) throws IOException {
        if (next(seconds) instanceof String line) {
            return line;
        }
        throw new IOException("the running process does not answer the hand-over");
    }

    /** What came next; the handler itself when the other has gone, or took too long. */
    private Object next(long seconds) throws IOException {
        try {
            Object next = heard.poll(seconds, TimeUnit.SECONDS);
            return next == null ? this : next;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** On the loop. */
    private final class Ear extends ChannelInboundHandlerAdapter {
        private final StringBuilder text = new StringBuilder();
        private volatile int descriptorsLeft; // writers: whoever asks for them, before it does; then the loop

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof ByteBuf bytes) {
                text.append(bytes.toString(StandardCharsets.UTF_8)); // ASCII: encoded where it may be more
                bytes.release();
                for (int end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
                    String line = text.substring(0, end);
                    heard.add(line);
                    if (line.startsWith(Wire.REFUSED)) {
                        gone.complete(null);
                    }
                    text.delete(0, end + 1);
                }
            } else {
                int left = descriptorsLeft - 1;
                descriptorsLeft = left;
                if (left == 0) {
                    channel.config().setReadMode(DomainSocketReadMode.BYTES);
                }
                heard.add(message);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            heard.add(TakeOver.this);
            gone.complete(null);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Ends the conversation: before {@link #ready}, the other goes on. */
    @Override
    public void close() {
        if (channel != null) {
            channel.close().awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
        }
        group.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
        for (Object left = heard.poll(); left != null; left = heard.poll()) {
            if (left instanceof FileDescriptor fd) {
                closeQuietly(fd);
            }
        }
    }
}
