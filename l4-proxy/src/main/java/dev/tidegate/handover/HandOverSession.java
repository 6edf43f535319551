package dev.tidegate.handover;

import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.PeerCredentials;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process that wants to take over, as the running one sees it.
 *
 * <pre>
 *   NEW -> ASKED -> OFFERED -> SENT -> TAKEN
 *     \______\_________\________\______/_________ OVER   the other has gone, or was refused
 * </pre>
 *
 * <p>Confined to the hand-over's loop.
 */
final class HandOverSession extends SimpleChannelInboundHandler<String> {
    static final Logger log = LoggerFactory.getLogger(HandOverSession.class);

    /** So long the other may take from its first word to being ready. */
    private static final long PATIENCE_SECONDS = 120;

    private enum State {
        NEW,
        ASKED,
        OFFERED,
        SENT,
        TAKEN,
        OVER
    }

    private final HandOverServer server;
    private final Giver giver;
    private final EpollDomainSocketChannel channel;
    private final int uid;
    private CountDownLatch farewell = new CountDownLatch(0); // of what it is being told; the last
    private State state = State.NEW;
    private long pid = -1;
    private List<HandedSocket> sockets = List.of();

    HandOverSession(HandOverServer server, Giver giver, EpollDomainSocketChannel channel, int uid) {
        this.server = server;
        this.giver = giver;
        this.channel = channel;
        this.uid = uid;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) throws IOException {
        PeerCredentials peer = channel.peerCredentials();
        pid = peer.pid();
        if (peer.uid() != uid) {
            refuse("only a process of user " + uid + " can take over, this one's user is " + peer.uid());
            return;
        }
        ctx.executor().schedule(this::onLate, PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private void onLate() {
        if (state != State.TAKEN && state != State.OVER) {
            refuse("it was not ready within " + PATIENCE_SECONDS + " s");
        }
    }

    /** There is nothing to take over any more: says so, unless it was said that there is. On the loop. */
    void giveUp(String why) {
        if (state == State.ASKED || state == State.SENT) {
            refuse(why);
        } else if (state == State.OFFERED) {
            log.warn("take-over refused pid={}: {}", pid, why);
            over();
            channel.close(); // it waits for descriptors and reads no words
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, String line) {
        if (state == State.NEW && line.startsWith(Wire.HELLO)) {
            onHello(line);
        } else if (state == State.OFFERED && line.equals(Wire.SEND)) {
            send();
        } else if (state == State.SENT && line.equals(Wire.READY)) {
            onReady();
        } else if (state != State.OVER) {
            refuse("\"" + line + "\" was not expected now (" + state + ")");
        }
    }

    private void onHello(String line) {
        if (!line.equals(Wire.hello())) {
            refuse("this process speaks version " + Wire.VERSION + " of the hand-over, and not "
                    + line.substring(Wire.HELLO.length()) + "; restart it instead");
        } else if (!server.tryBegin(this)) {
            refuse("another process is taking over already; wait for it");
        } else {
            state = State.ASKED;
            log.info("take-over asked for pid={}", pid);
            giver.give().whenComplete((given, why) -> channel.eventLoop().execute(() -> onGiven(given, why)));
        }
    }

    private void onGiven(List<HandedSocket> given, Throwable why) {
        if (state != State.ASKED) {
            return; // it has gone meanwhile
        }
        if (why != null) {
            refuse(said(why));
            return;
        }
        sockets = given;
        state = State.OFFERED;
        say(Wire.sockets(given));
    }

    private void send() {
        state = State.SENT;
        // One message each: the receiver tells them apart by their order.
        sockets.forEach(socket -> channel.write(new FileDescriptor(socket.fd())));
        channel.flush();
    }

    private void onReady() {
        state = State.TAKEN;
        farewell = server.beginFarewell();
        giver.taken(pid)
                .whenComplete(
                        (done, why) -> channel.eventLoop().execute(why == null ? this::onTaken : () -> onKept(why)));
    }

    private void onKept(Throwable why) {
        state = State.SENT;
        farewell.countDown();
        refuse(said(why));
    }

    private static String said(Throwable why) {
        return String.valueOf((why.getCause() == null ? why : why.getCause()).getMessage());
    }

    private void onTaken() {
        log.info("taken over pid={} sockets={}", pid, sockets.size());
        server.withdraw();
        say(Wire.TAKEN).addListener(ChannelFutureListener.CLOSE).addListener(said -> farewell.countDown());
    }

    private void refuse(String why) {
        log.warn("take-over refused pid={}: {}", pid, why);
        boolean begun = over(); // first: who is refused may try again at once
        ChannelFuture said = say(Wire.REFUSED + why.lines().findFirst().orElse(""));
        if (begun) {
            // The other one closes. With an end right behind it, the word could be read as if it were a descriptor.
            farewell = server.beginFarewell();
            channel.eventLoop().schedule(() -> channel.close(), HandOverServer.STOP_SECONDS, TimeUnit.SECONDS);
        } else {
            said.addListener(ChannelFutureListener.CLOSE);
        }
    }

    /** Whether there was something to end. */
    private boolean over() {
        boolean begun = state == State.ASKED || state == State.OFFERED || state == State.SENT;
        state = State.OVER;
        if (begun) {
            server.end(this);
            giver.goOn();
        }
        return begun;
    }

    private ChannelFuture say(String line) {
        return channel.writeAndFlush(ByteBufUtil.writeUtf8(channel.alloc(), line + "\n"));
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (state != State.NEW && state != State.TAKEN && state != State.OVER) {
            log.warn("take-over given up: the other process has gone before it was ready pid={}", pid);
            over();
        }
        farewell.countDown();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        log.warn("take-over broken pid={}: {}", pid, cause.toString());
        ctx.close();
    }
}
